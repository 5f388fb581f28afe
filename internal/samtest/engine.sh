#!/usr/bin/env bash
# Starts and stops a container engine for `sam local invoke`.
#
#   eval "$(internal/samtest/engine.sh start PYTHON)"
#   internal/samtest/engine.sh stop
#
# PYTHON is a Python with the SAM CLI. A running container engine is used as
# it is. If there is none, root on Debian gets one: a dockerd that listens at a
# socket under .build and does not change the firewall.
#
# SAM builds the image of a function on a base image from a registry. If that
# cannot be downloaded, a substitute with the same name is made. It has a shell
# and two commands, which is all that SAM's own build step runs, and all that a
# static binary needs. The emulator of Lambda's runtime, which SAM adds, is the
# real one. A test with the substitute does not cover what is in Amazon Linux:
# its C library, certificates, time zones.
#
# Standard output is for eval: the address of the engine, and the address at
# which its containers reach this machine.
set -euo pipefail
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
state=$root/.build/engine
socket=unix://$state/docker.sock
patience=60 # seconds
bridge=169.254.100.1/24 # link-local: it is not routed

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

# ours prints the process id of the dockerd that was started here. The id in the
# file may be out of date, and belong to another process now.
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

# run_engine DRIVER: starts dockerd with a storage driver; "" means its default.
run_engine() {
  local flags=(
    -H "$socket" "--data-root=$state/data" "--exec-root=$state/exec" "--pidfile=$state/dockerd.pid"
    "--bip=$bridge" --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false
    --dns=127.0.0.1 # in containers, so that a look-up fails at once
  )
  [ -z "$1" ] || flags+=("--storage-driver=$1")
  # A killed engine leaves files that the next one would use.
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

# base_image PYTHON: prints the name of the base image that SAM uses.
base_image() {
  "$1" - "$(uname -m)" <<'PYTHON'
import sys
from samcli.local.docker.lambda_image import LambdaImage, Runtime
architecture = {"aarch64": "arm64"}.get(sys.argv[1], sys.argv[1])
print(LambdaImage._INVOKE_REPO_PREFIX + "/" + Runtime.get_image_name_tag("provided.al2023", architecture))
PYTHON
}

# need_image ENGINE IMAGE: pulls or makes an image, unless it exists.
need_image() {
  if docker -H "$1" image inspect "$2" >/dev/null 2>&1; then return; fi
  if [ "$1" != "$socket" ] && docker -H "$1" pull -q "$2" >&2; then return; fi
  tell "making an emulator for $2"
  make_image "$1" "$2"
  # Remove what SAM has built before on another base.
  docker -H "$1" image rm -f "${2/al2023-/al2023-rapid-}" >/dev/null 2>&1 || true
}

make_image() (
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  chmod 755 "$work"
  cd "$work"
  # apt may download as another user, who needs access to the folder.
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
