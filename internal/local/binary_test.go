package local

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// elfProgram is a program for a machine, with the path of its loader if it has one.
func elfProgram(t *testing.T, machine elf.Machine, loader string) string {
	t.Helper()
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: 1, Ehsize: 64, Phentsize: 56}
	copy(h.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	var progs []elf.Prog64
	if loader != "" {
		h.Phoff, h.Phnum = 64, 1
		progs = append(progs, elf.Prog64{Type: uint32(elf.PT_INTERP), Off: 120, Filesz: uint64(len(loader) + 1)})
	}
	var b bytes.Buffer
	for _, part := range []any{h, progs, []byte(loader + "\x00")} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestWhyABinaryDoesNotRunHere(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the formats of Linux")
	}
	here, there := elf.EM_X86_64, elf.EM_AARCH64
	if runtime.GOARCH == "arm64" {
		here, there = there, here
	}
	this := runtime.GOOS + "/" + runtime.GOARCH
	for name, tt := range map[string]struct{ content, want string }{
		"a script":                {"#!/bin/sh\nexit 0\n", ""},
		"a script of env":         {"#! /usr/bin/env sh\n", ""},
		"this machine's":          {elfProgram(t, here, ""), ""},
		"another machine's":       {elfProgram(t, there, ""), "bootstrap is a program for linux/" + machines[there] + ", and this machine is " + this + "; let the target build-F take GOOS and GOARCH from its environment"}, //nolint:lll // a row
		"an unknown machine's":    {elfProgram(t, elf.EM_68K, ""), "for linux/EM_68K, and this machine is " + this},
		"a missing loader":        {elfProgram(t, here, "/lib/ld-nowhere.so.1"), "needs /lib/ld-nowhere.so.1, which is not on this machine; build it with CGO_ENABLED=0"}, //nolint:lll // a row
		"damaged":                 {elf.ELFMAG + "\x02\x01\x01", "bootstrap is a damaged program"},
		"macOS":                   {"\xcf\xfa\xed\xfe....", "bootstrap is a program for macOS, and this machine is " + this},
		"Windows":                 {"MZ....", "bootstrap is a program for Windows"},
		"a missing interpreter":   {"#!/usr/bin/nothing3 -u\n", `a script for "/usr/bin/nothing3", which is not on`},
		"no interpreter":          {"#!\n", "a script without an interpreter"},
		"a script without a line": {"echo hello\n", "neither a program nor a script that begins with #!"},
		"empty":                   {"", "bootstrap is empty; let the target build-F write a program"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "bootstrap")
			if err := os.WriteFile(path, []byte(tt.content), 0o700); err != nil {
				t.Fatal(err)
			}
			got := unrunnable(path, "build-F")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("it says %q, want %q", got, tt.want)
			}
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := unrunnable(path, ""); !strings.Contains(got, "is not executable; let go build end with chmod +x") {
				t.Errorf("without the bit it says %q", got)
			}
		})
	}
	if got := unrunnable(t.TempDir(), "build-F"); !strings.Contains(got, "bootstrap is no file") {
		t.Errorf("of a folder it says %q", got)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got := unrunnable(own, ""); got != "" {
		t.Errorf("of this very program it says %q", got)
	}
}

func FuzzUnrunnable(f *testing.F) {
	f.Add([]byte(elf.ELFMAG + "\x02\x01\x01"))
	f.Add([]byte("#!/bin/sh -e\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if got := unrunnableFile(bytes.NewReader(content), content[:min(len(content), 256)], "go build"); strings.Contains(
			got, "\n") {
			t.Errorf("%q has more than one line", got)
		}
	})
}
