package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// built is an image for one system.
type built struct {
	Config struct {
		User, WorkingDir string
		Env, Entrypoint  []string
		Labels           map[string]string
	} `json:"config"`

	layers [][]byte // tar archives
}

// read returns the images of an OCI layout by their systems, and checks all digests.
func read(t *testing.T, folder string) map[string]built {
	t.Helper()
	type list struct {
		Manifests []descriptor `json:"manifests"`
	}
	top := decode[list](t, load(t, filepath.Join(folder, "index.json")))
	index := top.Manifests[len(top.Manifests)-1]
	if index.MediaType != indexType {
		t.Fatalf("%s: the last entry is %s, want an index of systems", folder, index.MediaType)
	}
	images := map[string]built{}
	for _, m := range decode[list](t, blob(t, folder, index)).Manifests {
		parts := decode[struct {
			Config descriptor   `json:"config"`
			Layers []descriptor `json:"layers"`
		}](t, blob(t, folder, m))
		image := decode[built](t, blob(t, folder, parts.Config))
		for _, layer := range parts.Layers {
			z, err := gzip.NewReader(bytes.NewReader(blob(t, folder, layer)))
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			image.layers = append(image.layers, content)
		}
		images[m.Platform.OS+"/"+m.Platform.Architecture] = image
	}
	return images
}

func blob(t *testing.T, folder string, d descriptor) []byte {
	t.Helper()
	content := load(t, filepath.Join(folder, "blobs", "sha256", strings.TrimPrefix(d.Digest, "sha256:")))
	if digestOf(content) != d.Digest || len(content) != d.Size {
		t.Fatalf("%s has %d bytes and the digest %s, want %d", d.Digest, len(content), digestOf(content), d.Size)
	}
	return content
}

func load(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func decode[T any](t *testing.T, content []byte) (value T) {
	t.Helper()
	if err := json.Unmarshal(content, &value); err != nil {
		t.Fatal(err)
	}
	return value
}
