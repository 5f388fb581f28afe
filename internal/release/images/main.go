// Command images builds the container images of a release with ko: of the command and of
// the sample worker, each for two systems, on a base of its own. It downloads nothing.
// Without -push the images are OCI layouts in the folder -out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	repository = "https://github.com/sqsafe/sqsafe"
	registry   = "ghcr.io/sqsafe/"
)

// image is a program in a container.
type image struct {
	name, pkg, title string
}

func images() []image {
	return []image{
		{"sqsafe", "./cmd/sqsafe", "The command sqsafe: emulators of SQS and DynamoDB, dead letters, checks"},
		{"charge-worker", "./functions/charge-worker", "A sample worker of sqsafe"},
	}
}

// settings are the flags of the command.
type settings struct {
	ko, out, certificates, licences string
	push                            bool
}

func main() {
	var s settings
	flag.StringVar(&s.ko, "ko", "ko", "the program ko")
	flag.StringVar(&s.out, "out", ".build/images", "the folder for images, lists of modules and digests")
	flag.StringVar(&s.certificates, "certificates", "/etc/ssl/certs/ca-certificates.crt", "root certificates, in PEM")
	flag.StringVar(&s.licences, "licences", ".build/licences.txt", "licences of linked modules")
	flag.BoolVar(&s.push, "push", false, "push the images to "+registry+"; the commit must have a tag")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, &s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s *settings) error {
	at, err := release(ctx)
	if err != nil {
		return err
	}
	if s.push && at.tag == "" {
		return errors.New("this commit has no tag; only releases are pushed: leave -push away")
	}
	if err := os.RemoveAll(s.out); err != nil {
		return err
	}
	b := base{created: at.time, files: map[string]string{
		"etc/ssl/certs/ca-certificates.crt":           s.certificates,
		"usr/share/doc/sqsafe/LICENSE":                "LICENSE",
		"usr/share/doc/sqsafe/licences-of-others.txt": s.licences,
	}}
	cache := filepath.Join(s.out, "base")
	digest, err := b.write(filepath.Join(cache, "img"))
	if err != nil {
		return err
	}
	var digests strings.Builder
	for _, i := range images() {
		reference, err := s.build(ctx, i, at, cache, digest)
		if err != nil {
			return fmt.Errorf("%s: %w", i.name, err)
		}
		_, sum, found := strings.Cut(reference, "@sha256:")
		if !found {
			return fmt.Errorf("%s: ko printed %q, want a name with a digest", i.name, reference)
		}
		fmt.Fprintf(&digests, "%s  %s\n", sum, registry+i.name)
	}
	return os.WriteFile(filepath.Join(s.out, "digests.txt"), []byte(digests.String()), 0o600)
}

// build returns the name of the image with its digest.
func (s *settings) build(ctx context.Context, i image, at commit, cache, digest string) (string, error) {
	args := []string{
		"build", i.pkg, "--bare", "--platform=linux/amd64,linux/arm64",
		"--tags=" + strings.Join(at.tags(), ","), "--sbom=spdx", "--sbom-dir=" + filepath.Join(s.out, "modules"),
	}
	for _, label := range [][2]string{
		{"title", i.title}, {"source", repository}, {"url", repository}, {"documentation", repository + "#readme"},
		{"licenses", "Apache-2.0"}, {"version", at.version()}, {"revision", at.id}, {"created", at.time.Format(time.RFC3339)},
	} {
		text := strconv.Quote("org.opencontainers.image." + label[0] + "=" + label[1]) // ko reads it as CSV
		args = append(args, "--image-label="+text, "--image-annotation="+text)
	}
	if !s.push {
		args = append(args, "--push=false", "--oci-layout-path="+filepath.Join(s.out, i.name))
	}
	cmd := exec.CommandContext(ctx, s.ko, args...)
	cmd.Env = append(os.Environ(),
		"KO_DOCKER_REPO="+registry+i.name, "KOCACHE="+cache,
		"KO_DEFAULTBASEIMAGE=base.invalid/sqsafe@"+digest, // it is in the cache, and no registry is asked
		"SOURCE_DATE_EPOCH="+strconv.FormatInt(at.time.Unix(), 10),
	)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// commit is what is released.
type commit struct {
	id, tag string
	time    time.Time
}

// release describes the commit that is checked out.
func release(ctx context.Context) (commit, error) {
	out, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%H %ct").Output()
	if err != nil {
		return commit{}, fmt.Errorf("git log: %w", err)
	}
	id, seconds, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return commit{}, fmt.Errorf("git log: %w", err)
	}
	at := commit{id: id, time: time.Unix(n, 0).UTC()}
	// An error means that the commit has no tag.
	tag := exec.CommandContext(ctx, "git", "describe", "--exact-match", "--tags", "--match=v*")
	if out, err := tag.Output(); err == nil {
		at.tag = strings.TrimSpace(string(out))
	}
	return at, nil
}

func (c commit) version() string {
	if c.tag == "" {
		return "0.0.0-dev." + c.id[:12]
	}
	return strings.TrimPrefix(c.tag, "v")
}

var isRelease = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// tags of the image: "latest" is the last release, and not one such as v1.0.0-rc.1.
func (c commit) tags() []string {
	if isRelease.MatchString(c.tag) {
		return []string{c.version(), "latest"}
	}
	return []string{c.version()}
}
