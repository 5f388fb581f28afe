package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Names and numbers of the user that runs the program. Kubernetes checks by the number
// that it is not root.
const (
	userID   = 65532
	userName = "nonroot"
)

// base is the image below a program: root certificates, a user that is not root, a folder
// for temporary files, licences. No shell and no other program.
type base struct {
	created time.Time
	// files are names in the image, and the files here that they are copies of.
	files map[string]string
}

// The parts of an OCI image: github.com/opencontainers/image-spec.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

type descriptor struct {
	MediaType string    `json:"mediaType"`
	Digest    string    `json:"digest"`
	Size      int       `json:"size"`
	Platform  *platform `json:"platform,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// write makes an OCI layout with the image for both systems, and returns the digest of the
// index of the two.
func (b base) write(folder string) (string, error) {
	content, err := b.layer()
	if err != nil {
		return "", err
	}
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	if _, err := z.Write(content); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	l := &layout{blobs: filepath.Join(folder, "blobs", "sha256")}
	if err := os.MkdirAll(l.blobs, 0o750); err != nil {
		return "", err
	}
	layer := l.add(layerType, compressed.Bytes())
	var all []descriptor
	for _, architecture := range []string{"amd64", "arm64"} {
		p := platform{architecture, "linux"}
		config := l.addJSON(configType, map[string]any{
			"architecture": p.Architecture, "os": p.OS, "created": b.created,
			"config": map[string]any{
				"User":       fmt.Sprintf("%d:%d", userID, userID),
				"WorkingDir": "/home/" + userName,
				"Env":        []string{"HOME=/home/" + userName},
			},
			"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{digestOf(content)}},
			"history": []any{map[string]any{"created": b.created, "created_by": "github.com/sqsafe/sqsafe/internal/release"}},
		})
		manifest := l.addJSON(manifestType, map[string]any{
			"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": []descriptor{layer},
		})
		manifest.Platform = &p
		all = append(all, manifest)
	}
	index := l.addJSON(indexType, map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": all})
	// ko looks for the images by their digests too.
	l.save(filepath.Join(folder, "index.json"), map[string]any{"schemaVersion": 2, "manifests": append(all, index)})
	l.save(filepath.Join(folder, "oci-layout"), map[string]any{"imageLayoutVersion": "1.0.0"})
	return index.Digest, l.err
}

// layer is a tar archive with everything that the image has.
func (b base) layer() ([]byte, error) {
	entries := []entry{
		{name: "home/", mode: 0o755}, {name: "home/" + userName + "/", mode: 0o700, owner: userID},
		{name: "tmp/", mode: 0o1777},
	}
	seen := map[string]bool{}
	for _, name := range b.names() {
		content, err := b.content(name)
		if err != nil {
			return nil, err
		}
		for _, above := range parents(name) {
			if !seen[above] {
				seen[above] = true
				entries = append(entries, entry{name: above, mode: 0o755})
			}
		}
		entries = append(entries, entry{name: name, mode: 0o644, content: content})
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := tar.Header{
			Name: e.name, Mode: e.mode, Size: int64(len(e.content)), Uid: e.owner, Gid: e.owner, ModTime: b.created,
			Format: tar.FormatUSTAR, // a name with a slash at its end is a folder
		}
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// entry is a file of the archive, or a folder.
type entry struct {
	name    string
	mode    int64
	owner   int
	content []byte
}

// accounts are the files by which a container runtime and programs know the user.
func accounts() map[string]string {
	return map[string]string{
		"etc/passwd": "root:x:0:0:root:/root:/sbin/nologin\n" +
			fmt.Sprintf("%[1]s:x:%[2]d:%[2]d:%[1]s:/home/%[1]s:/sbin/nologin\n", userName, userID),
		"etc/group": fmt.Sprintf("root:x:0:\n%s:x:%d:\n", userName, userID),
	}
}

func (b base) names() []string {
	var names []string
	for name := range b.files {
		names = append(names, name)
	}
	for name := range accounts() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (b base) content(name string) ([]byte, error) {
	if text, ok := accounts()[name]; ok {
		return []byte(text), nil
	}
	content, err := os.ReadFile(b.files[name])
	if err != nil {
		return nil, fmt.Errorf("%s of the image: %w; name another file with a flag of this command", name, err)
	}
	return content, nil
}

// parents are the folders of a file, the outermost first, each with a slash at its end.
func parents(name string) (folders []string) {
	for i, r := range name {
		if r == '/' {
			folders = append(folders, name[:i+1])
		}
	}
	return folders
}

// layout is a folder with an OCI image. The first error stays.
type layout struct {
	blobs string
	err   error
}

func (l *layout) add(mediaType string, content []byte) descriptor {
	d := descriptor{MediaType: mediaType, Digest: digestOf(content), Size: len(content)}
	if err := os.WriteFile(filepath.Join(l.blobs, d.Digest[len("sha256:"):]), content, 0o600); l.err == nil {
		l.err = err
	}
	return d
}

func (l *layout) addJSON(mediaType string, value any) descriptor {
	content, err := json.Marshal(value)
	if l.err == nil {
		l.err = err
	}
	return l.add(mediaType, content)
}

func (l *layout) save(file string, value any) {
	content, err := json.Marshal(value)
	if err == nil {
		err = os.WriteFile(file, content, 0o600)
	}
	if l.err == nil {
		l.err = err
	}
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}
