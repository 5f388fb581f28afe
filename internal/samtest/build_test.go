package samtest_test

import (
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const (
	// most is the maximum size of a binary in bytes: small enough to start
	// fast.
	most     = 9 << 20
	sources  = "github.com/sqsafe/sqsafe/functions/"
	bootable = "bootstrap"
)

// built returns the path of the function that make sam-build has built.
func built(function string) string {
	return filepath.Join(root, ".aws-sam", "build", function, bootable)
}

// architecture returns the name of this machine's architecture in Lambda and in
// ELF.
func architecture(t *testing.T) (string, elf.Machine) {
	t.Helper()
	switch runtime.GOARCH {
	case "amd64":
		return "x86_64", elf.EM_X86_64
	case "arm64":
		return "arm64", elf.EM_AARCH64
	}
	t.Skipf("Lambda has no architecture %s", runtime.GOARCH)
	return "", 0
}

// TestSAMBuildsWhatLambdaRuns checks that each function is a static binary of
// its own package, for the right processor, and small.
func TestSAMBuildsWhatLambdaRuns(t *testing.T) {
	t.Parallel()
	tools(t)
	_, machine := architecture(t)
	for _, function := range []string{charge, stock, notify} {
		path := built(function)
		binary, err := elf.Open(path)
		if err != nil {
			t.Errorf("%s: %v", function, err)
			continue
		}
		t.Cleanup(func() { binary.Close() })
		for _, p := range binary.Progs {
			if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
				t.Errorf("%s is linked dynamically, it needs what Lambda may not have: build it with CGO_ENABLED=0", function)
			}
		}
		if binary.Machine != machine {
			t.Errorf("%s is for %v, want %v", function, binary.Machine, machine)
		}
		if binary.Section(".symtab") != nil {
			t.Errorf("%s is not stripped", function)
		}
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := sources + strings.ToLower(strings.TrimSuffix(function, "Function")); info.Path != want {
			t.Errorf("%s is built of %s, want %s", function, info.Path, want)
		}
		stat, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if stat.Size() > most || stat.Mode().Perm()&0o111 == 0 {
			t.Errorf("%s has %d bytes and mode %v, want at most %d and the right to run",
				function, stat.Size(), stat.Mode(), most)
		}
	}
}

// TestSAMInvokesEveryEvent invokes the built functions in containers.
func TestSAMInvokesEveryEvent(t *testing.T) {
	t.Parallel()
	tools(t)
	name, _ := architecture(t)
	address := os.Getenv("SAMTEST_ADDRESS")
	if address == "" {
		t.Fatal("SAMTEST_ADDRESS is not set; engine.sh start gives it")
	}
	first := true
	for _, in := range invocations {
		invoke := func(t *testing.T) {
			b := newBench(t, address, in.faults...)
			f := b.function(t, in.function)
			variables, err := json.Marshal(map[string]map[string]string{in.function: b.environment(f)})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "env.json")
			if err := os.WriteFile(file, variables, 0o600); err != nil {
				t.Fatal(err)
			}
			out, errs := run(t, tool(t, "sam", "local", "invoke", in.function,
				"--event", filepath.Join("events", in.file+".json"), "--env-vars", file,
				"--parameter-overrides", "Architecture="+name))
			if len(out) == 0 {
				t.Fatalf("no answer:\n%s", errs)
			}
			in.compare(t, out)
			if t.Failed() {
				t.Log(errs)
			}
		}
		if first { // SAM builds its image at the first call, and must not build it twice at the same time
			t.Run(in.file, invoke)
			first = false
			continue
		}
		t.Run(in.file, func(t *testing.T) {
			t.Parallel()
			invoke(t)
		})
	}
}
