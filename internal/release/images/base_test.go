package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTheBaseOfImages writes a base twice: it is the same, and has what a program needs and nothing else.
func TestTheBaseOfImages(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	certificates := filepath.Join(folder, "certificates")
	if err := os.WriteFile(certificates, []byte("PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := base{time.Unix(1e9, 0).UTC(), map[string]string{"etc/ssl/certs/ca-certificates.crt": certificates}}
	digests := map[string]bool{}
	for _, name := range []string{"one", "two"} {
		digest, err := b.write(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		digests[digest] = true
	}
	if len(digests) != 1 {
		t.Errorf("two bases of one time have the digests %v", slices.Collect(maps.Keys(digests)))
	}
	built := read(t, filepath.Join(folder, "one"))
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, slices.Sorted(maps.Keys(built))); diff != "" {
		t.Errorf("systems (-want +got):\n%s", diff)
	}
	want := map[string]string{
		"home/": "drwxr-xr-x 0", "home/nonroot/": "drwx------ 65532", "tmp/": "dtrwxrwxrwx 0",
		"etc/": "drwxr-xr-x 0", "etc/passwd": "-rw-r--r-- 0", "etc/group": "-rw-r--r-- 0",
		"etc/ssl/": "drwxr-xr-x 0", "etc/ssl/certs/": "drwxr-xr-x 0", "etc/ssl/certs/ca-certificates.crt": "-rw-r--r-- 0",
	}
	for system, image := range built {
		if image.Config.User != "65532:65532" || image.Config.WorkingDir != "/home/nonroot" {
			t.Errorf("%s: settings %+v, want the user 65532 in its folder", system, image.Config)
		}
		if diff := cmp.Diff(want, modes(t, image.layers)); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", system, diff)
		}
	}
}

func TestABaseWithoutCertificatesIsRefused(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "ca-certificates.crt")
	b := base{files: map[string]string{"etc/ssl/certs/ca-certificates.crt": missing}}
	if _, err := b.write(t.TempDir()); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("error %v, want one that names %s", err, missing)
	}
}

func TestVersionsAndTags(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string][]string{
		"v1.2.3":      {"1.2.3", "latest"},
		"v1.2.3-rc.1": {"1.2.3-rc.1"},
		"":            {"0.0.0-dev.0123456789ab"},
	} {
		c := commit{id: "0123456789abcdef", tag: tag}
		if diff := cmp.Diff(want, c.tags()); diff != "" {
			t.Errorf("tags of %q (-want +got):\n%s", tag, diff)
		}
	}
}

// modes are the files of all layers, with their rights and owners.
func modes(t *testing.T, layers [][]byte) map[string]string {
	t.Helper()
	found := map[string]string{}
	each(t, layers, func(h *tar.Header, _ io.Reader) {
		found[h.Name] = h.FileInfo().Mode().String() + " " + strconv.Itoa(h.Uid)
	})
	return found
}

func each(t *testing.T, layers [][]byte, f func(h *tar.Header, content io.Reader)) {
	t.Helper()
	for _, layer := range layers {
		r := tar.NewReader(bytes.NewReader(layer))
		for {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			f(h, r)
		}
	}
}
