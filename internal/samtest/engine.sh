#!/usr/bin/env bash
# Gives `sam local invoke` something to run functions in.
#
#   eval "$(internal/samtest/engine.sh start PYTHON)"
#   internal/samtest/engine.sh stop
#
# PYTHON is one that has the SAM CLI. A container engine that answers is used as
# it is. Where none does, root on Debian gets one: a dockerd that answers at a
# socket under .build and does not touch the firewall.
#
# SAM builds the image of a function on a base image that it asks a registry
# for. Where that cannot be had, a stand-in takes its name. It has a shell and
# two commands, which is all that SAM's own build step runs, and all that a
# static binary wants of a base. The emulator of Lambda's runtime, which SAM
# adds to it, is the real one. So a stand-in says nothing about what Amazon
# Linux brings: its C library, certificates, time zones.
#
# Standard output is for eval: where the engine answers, and the address of this
# machine that its containers reach.
set -euo pipefail
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
state=$root/.build/engine
socket=unix://$state/docker.sock
patience=60 # seconds
bridge=169.254.100.1/24 # link-local: nobody routes it

tell() { echo "engine: $*" >&2; }
fail() {
  tell "$@"
  exit 1
}

# quietly COMMAND...: shows what it printed only if it fails.
quietly() {
  local printed
  printed=$("$@" 2>&1) || {
    tail -n 20 <<<"$printed" >&2
    fail "failed: $*"
  }
}

answers() { docker -H "$1" version >/dev/null 2>&1; }

# ours is the id of the dockerd that was started here. The record may be stale,
# and its number in use by somebody else by now.
ours() {
  local id
  id=$(cat "$state/dockerd.pid" 2>/dev/null) || return 1
  tr '\0' ' ' <"/proc/$id/cmdline" 2>/dev/null | grep -qF -- "--data-root=$state/data" && echo "$id"
}

install_engine() {
  command -v apt-get >/dev/null || fail "there is no container engine and no apt-get: install Docker, or start it"
  tell "installing docker.io"
  quietly apt-get update
  quietly env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends docker.io
}

# run_engine DRIVER: starts dockerd with a storage driver, "" for its choice.
run_engine() {
  local flags=(
    -H "$socket" "--data-root=$state/data" "--exec-root=$state/exec" "--pidfile=$state/dockerd.pid"
    "--bip=$bridge" --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false
    --dns=127.0.0.1 # of the container: a look-up fails at once
  )
  [ -z "$1" ] || flags+=("--storage-driver=$1")
  # An engine that was killed leaves records that the next one would trust.
  rm -rf "$state/dockerd.pid" "$state/exec"
  setsid dockerd "${flags[@]}" </dev/null >"$state/log" 2>&1 &
  local child=$! until=$((SECONDS + patience))
  until answers "$socket"; do
    if [ "$SECONDS" -ge "$until" ] || [ ! -e "/proc/$child/exe" ]; then
      kill "$child" 2>/dev/null || true
      return 1
    fi
    sleep 0.2
  done
}

start_engine() {
  mkdir -p "$state"
  if ours >/dev/null && answers "$socket"; then return; fi
  [ "$(id -u)" = 0 ] || fail "no container engine answers: start Docker, or run this as root"
  [ "${#socket}" -lt 110 ] || fail "the path of the socket is too long for the system: $socket"
  command -v dockerd >/dev/null || install_engine
  [ -e /sys/class/net/docker0 ] || touch "$state/made-bridge"
  run_engine '' || run_engine vfs || {
    tail -n 10 "$state/log" >&2
    fail "dockerd does not start"
  }
  tell "dockerd answers at $socket"
}

# base_image PYTHON: the name under which SAM looks for it.
base_image() {
  "$1" - "$(uname -m)" <<'PYTHON'
import sys
from samcli.local.docker.lambda_image import LambdaImage, Runtime
architecture = {"aarch64": "arm64"}.get(sys.argv[1], sys.argv[1])
print(LambdaImage._INVOKE_REPO_PREFIX + "/" + Runtime.get_image_name_tag("provided.al2023", architecture))
PYTHON
}

# need_image ENGINE IMAGE: leaves an image alone that is there.
need_image() {
  if docker -H "$1" image inspect "$2" >/dev/null 2>&1; then return; fi
  if [ "$1" != "$socket" ] && docker -H "$1" pull -q "$2" >&2; then return; fi
  tell "making a stand-in for $2"
  make_image "$1" "$2"
  # What SAM has built on another base before.
  docker -H "$1" image rm -f "${2/al2023-/al2023-rapid-}" >/dev/null 2>&1 || true
}

make_image() (
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  chmod 755 "$work"
  cd "$work"
  # Below the folder apt may download as another user.
  mkdir -m 777 package
  mkdir -p tree/bin tree/tmp tree/var/task tree/var/runtime
  (cd package && quietly apt-get download busybox-static) || exit
  dpkg-deb -x package/*.deb unpacked
  find unpacked -path '*/bin/busybox' -exec cp {} tree/bin/busybox \;
  for name in sh mv chmod; do ln -s busybox "tree/bin/$name"; done
  tar -C tree -c . | docker -H "$1" import -c 'ENV PATH=/bin' -c 'WORKDIR /var/task' - "$2" >/dev/null
)

start() {
  local engine=${DOCKER_HOST:-unix:///var/run/docker.sock} image address
  if [ "$engine" = "$socket" ] || ! command -v docker >/dev/null || ! answers "$engine"; then
    start_engine
    engine=$socket
  fi
  image=$(base_image "$1")
  need_image "$engine" "$image"
  address=$(docker -H "$engine" network inspect bridge -f '{{(index .IPAM.Config 0).Gateway}}')
  echo "export DOCKER_HOST=$engine SAMTEST_ADDRESS=$address"
}

stop() {
  local id until=$((SECONDS + patience))
  if id=$(ours); then
    kill "$id"
    while ours >/dev/null; do
      [ "$SECONDS" -lt "$until" ] || fail "dockerd, process $id, does not stop"
      sleep 0.2
    done
    tell "dockerd stopped"
  fi
  if [ -e "$state/made-bridge" ]; then
    ip link delete docker0 2>/dev/null || true
    rm -f "$state/made-bridge"
  fi
}

case "${1:-}" in
start) start "${2:?start wants a Python that has the SAM CLI}" ;;
stop) stop ;;
*) fail "usage: engine.sh start PYTHON | stop" ;;
esac
