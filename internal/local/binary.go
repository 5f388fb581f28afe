package local

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// unrunnable says why this machine cannot run a built function, and what helps; empty if
// it can. The system itself says no more than "exec format error", or that a file is
// missing which is there. target is the name of the make target; empty for go build.
func unrunnable(binary, target string) string {
	info, err := os.Stat(binary)
	if err != nil {
		return err.Error()
	}
	what := "go build"
	if target != "" {
		what = "the target " + target
	}
	switch {
	case !info.Mode().IsRegular():
		return fmt.Sprintf("bootstrap is no file; let %s write a program of that name", what)
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Sprintf("bootstrap is not executable; let %s end with chmod +x $(ARTIFACTS_DIR)/bootstrap", what)
	case info.Size() == 0:
		return fmt.Sprintf("bootstrap is empty; let %s write a program", what)
	}
	file, err := os.Open(binary)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(file, head)
	if n == 0 {
		return err.Error()
	}
	return unrunnableFile(file, head[:n], what)
}

// The first bytes of programs of other systems.
var otherSystems = []struct{ magic, system string }{
	{"MZ", "Windows"}, {"\xcf\xfa\xed\xfe", "macOS"}, {"\xce\xfa\xed\xfe", "macOS"}, {"\xca\xfe\xba\xbe", "macOS"},
}

func unrunnableFile(file io.ReaderAt, head []byte, what string) string {
	switch {
	case bytes.HasPrefix(head, []byte("#!")):
		return missingInterpreter(head)
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		return foreignProgram(file, what)
	case runtime.GOOS != "linux":
		return "" // the system's own formats are not looked into
	}
	for _, other := range otherSystems {
		if bytes.HasPrefix(head, []byte(other.magic)) {
			return fmt.Sprintf("bootstrap is a program for %s, and this machine is %s; %s",
				other.system, platform(runtime.GOOS, runtime.GOARCH), forThisMachine(what))
		}
	}
	return "bootstrap is neither a program nor a script that begins with #! and the path of its interpreter; " +
		"write that line, such as #!/bin/sh"
}

func missingInterpreter(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	words := strings.Fields(strings.TrimPrefix(string(line), "#!"))
	if len(words) == 0 {
		return "bootstrap is a script without an interpreter; write its path behind #!"
	}
	if _, err := os.Stat(words[0]); err != nil {
		return fmt.Sprintf("bootstrap is a script for %q, which is not on this machine; install it, or correct the line #!",
			words[0])
	}
	return ""
}

// machines are Go's names of processors.
var machines = map[elf.Machine]string{
	elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386", elf.EM_ARM: "arm", elf.EM_RISCV: "riscv64",
	elf.EM_PPC64: "ppc64", elf.EM_S390: "s390x", elf.EM_LOONGARCH: "loong64",
}

func foreignProgram(file io.ReaderAt, what string) string {
	program, err := elf.NewFile(file)
	if err != nil {
		return fmt.Sprintf("bootstrap is a damaged program: %v; build it again", err)
	}
	machine := machines[program.Machine]
	if machine == "" {
		machine = program.Machine.String()
	}
	if runtime.GOOS != "linux" || machine != runtime.GOARCH {
		return fmt.Sprintf("bootstrap is a program for %s, and this machine is %s; %s",
			platform("linux", machine), platform(runtime.GOOS, runtime.GOARCH), forThisMachine(what))
	}
	for _, p := range program.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		text, _ := io.ReadAll(p.Open())
		loader := strings.TrimRight(string(text), "\x00")
		if _, err := os.Stat(loader); err != nil {
			return fmt.Sprintf("bootstrap needs %s, which is not on this machine; build it with CGO_ENABLED=0",
				filepath.Clean(loader))
		}
	}
	return ""
}

func platform(system, machine string) string { return system + "/" + machine }

// forThisMachine is the remedy: builds get GOOS and GOARCH of this machine.
func forThisMachine(what string) string {
	return "let " + what + " take GOOS and GOARCH from its environment where they are set, as with GOARCH ?= arm64"
}
