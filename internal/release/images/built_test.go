package main

import (
	"archive/tar"
	"debug/buildinfo"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// folderVariable names the folder in which make images has built the images.
const folderVariable = "SQSAFE_IMAGES"

// TestImages looks into the images that were built, and runs their programs.
func TestImages(t *testing.T) {
	t.Parallel()
	folder := os.Getenv(folderVariable)
	if folder == "" {
		t.Skip(folderVariable + " is not set: make release-dry builds the images")
	}
	for _, i := range images() {
		t.Run(i.name, func(t *testing.T) {
			t.Parallel()
			all := read(t, filepath.Join(folder, i.name))
			if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, slices.Sorted(maps.Keys(all))); diff != "" {
				t.Errorf("systems (-want +got):\n%s", diff)
			}
			program := "ko-app/" + i.name
			for system, image := range all {
				checkSettings(t, system, i, image)
				root := t.TempDir()
				unpack(t, root, image.layers)
				checkProgram(t, system, filepath.Join(root, program))
				roots := string(load(t, root+"/etc/ssl/certs/ca-certificates.crt"))
				if n := strings.Count(roots, "BEGIN CERTIFICATE"); n < 50 {
					t.Errorf("%s: %d root certificates", system, n)
				}
				if system == runtime.GOOS+"/"+runtime.GOARCH {
					runIn(t, root, "/"+program, image.Config.Env)
				}
			}
		})
	}
}

func checkSettings(t *testing.T, system string, i image, got built) {
	t.Helper()
	if got.Config.User != "65532:65532" {
		t.Errorf("%s: the user is %q", system, got.Config.User)
	}
	if diff := cmp.Diff([]string{"/ko-app/" + i.name}, got.Config.Entrypoint); diff != "" {
		t.Errorf("%s: entry point (-want +got):\n%s", system, diff)
	}
	for _, name := range []string{"title", "source", "version", "revision", "licenses", "created"} {
		if got.Config.Labels["org.opencontainers.image."+name] == "" {
			t.Errorf("%s: there is no label %s: %v", system, name, got.Config.Labels)
		}
	}
}

func checkProgram(t *testing.T, system, file string) {
	t.Helper()
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	got := map[string]string{}
	for _, key := range []string{"-tags", "-trimpath", "CGO_ENABLED"} {
		got[key] = settings[key]
	}
	want := map[string]string{"-tags": "timetzdata", "-trimpath": "true", "CGO_ENABLED": "0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: settings of the build (-want +got):\n%s", system, diff)
	}
	of, commit := settings["GOOS"]+"/"+settings["GOARCH"], settings["vcs.revision"]
	if of != system || commit == "" {
		t.Errorf("%s: the program is for %s, of commit %q", system, of, commit)
	}
}

func unpack(t *testing.T, root string, layers [][]byte) {
	t.Helper()
	each(t, layers, func(h *tar.Header, content io.Reader) {
		name := filepath.Join(root, filepath.FromSlash(h.Name))
		if !filepath.IsLocal(h.Name) && !strings.HasPrefix(h.Name, "/") {
			t.Fatalf("the image has a file %q", h.Name)
		}
		var err error
		switch h.Typeflag {
		case tar.TypeDir:
			if err = os.MkdirAll(name, 0o755); err == nil {
				err = os.Chmod(name, h.FileInfo().Mode())
			}
		case tar.TypeReg:
			var text []byte
			if text, err = io.ReadAll(content); err == nil {
				if err = os.MkdirAll(filepath.Dir(name), 0o755); err == nil {
					err = os.WriteFile(name, text, h.FileInfo().Mode())
				}
			}
		default:
			t.Fatalf("the image has %q of type %q", h.Name, h.Typeflag)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}
