package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// TestLinkedModulesAreListed compares docs/licences.md with what is linked.
func TestLinkedModulesAreListed(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"go.mod", "go.sum"} { // so that go test notices a change of them
		if _, err := os.ReadFile(filepath.Join(root, file)); err != nil {
			t.Fatal(err)
		}
	}
	var got bytes.Buffer
	if err := run(t.Context(), &got, root, false); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(root + "/docs/licences.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the list is not that of docs/licences.md; run go run ./internal/licences > docs/licences.md\n%s", diff)
	}
}

func TestTextsNameTheModules(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	err := writeTexts(&got, []module{
		{path: "example.com/a", texts: map[string][]byte{"LICENSE": []byte("Same\n"), "NOTICE": []byte("From a")}},
		{path: "example.com/b", texts: map[string][]byte{"LICENSE": []byte("Same\n\n")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("=", 80) + "\n\n"
	want := "example.com/a\nexample.com/b\n\nSame\n\n" + line + "example.com/a\n\nFrom a\n\n" + line
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
}

func TestLicencesThatAreRefused(t *testing.T) {
	t.Parallel()
	// The notices that the two licences prescribe.
	const refused = "This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy " +
		"of the MPL was not distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/."
	const taken = "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee " +
		"is hereby granted, provided that the above copyright notice and this permission notice appear in all copies."
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"none", map[string]string{"README": "free"}, "no licence was found"},
		{"only a notice", map[string]string{"NOTICE": "Copyright"}, "no licence was found"},
		{"not allowed", map[string]string{"LICENSE": refused}, "has the licence MPL-2.0"},
		{"one of two not allowed", map[string]string{"LICENSE": taken, "COPYING": refused}, "MPL-2.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for name, text := range c.files {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := read("example.com/m", folder); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
