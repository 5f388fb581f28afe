package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTypesOfOtherSystems checks a module whose test compiles on Linux only.
func TestTypesOfOtherSystems(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.26\n",
		"m.go":      "package m\n\nimport \"os\"\n\nfunc End(p *os.Process) error { return p.Kill() }\n",
		"m_test.go": "package m_test\n\nimport \"syscall\"\n\nvar end = syscall.Kill\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	for system, want := range map[string]string{
		"linux/amd64": "", "windows/amd64": "m_test.go:5:19: undefined: syscall.Kill",
	} {
		var out bytes.Buffer
		err := run(t.Context(), &out, []string{system})
		switch {
		case want == "" && (err != nil || out.String() != system+": 2 packages, with their tests\n"):
			t.Errorf("%s: %v, %q", system, err, &out)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %q", system, err, want)
		}
	}
}

func TestWrongArguments(t *testing.T) {
	t.Parallel()
	for _, systems := range [][]string{nil, {"windows"}} {
		if err := run(t.Context(), nil, systems); err == nil || !strings.Contains(err.Error(), "windows/amd64") {
			t.Errorf("%q: error %v, want one that shows how a system is named", systems, err)
		}
	}
}
