package samtest_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"github.com/sqsafe/sqsafe/internal/scaffold"
)

// TestSAMTakesWhatInitWrites validates, translates, lints and builds the folders
// that sqsafe init writes.
func TestSAMTakesWhatInitWrites(t *testing.T) {
	t.Parallel()
	tools(t)
	module, err := scaffold.Checkout(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, fifo := range map[string]bool{"standard": false, "fifo": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := initialized(t, scaffold.Options{Name: name, FIFO: fifo, Module: module})
			for _, arguments := range [][]string{{"validate"}, {"validate", "--lint"}, {"build"}} {
				cmd := tool(t, "sam", arguments...)
				cmd.Dir = folder
				cmd.Env = append(cmd.Env, "CGO_ENABLED=0", "GOFLAGS=-tags=lambda.norpc")
				run(t, cmd)
			}
			built, err := filepath.Glob(filepath.Join(folder, ".aws-sam", "build", "*", bootable))
			if err != nil || len(built) != 1 {
				t.Fatalf("built %v, %v", built, err)
			}
			binary, err := elf.Open(built[0])
			if err != nil {
				t.Fatal(err)
			}
			defer binary.Close()
			if binary.Machine != elf.EM_X86_64 {
				t.Errorf("the binary is for %v, the template says x86_64", binary.Machine)
			}
			translated := translate(t, filepath.Join(folder, "template.yaml"))
			for _, findings := range lint(t, filepath.Join(translated, "template.json")) {
				t.Errorf("cfn-lint on the translation: %q", findings)
			}
		})
	}
}

// initialized writes the folder as sqsafe init does.
func initialized(t *testing.T, o scaffold.Options) string {
	t.Helper()
	files, err := scaffold.Files(o)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, f := range files {
		path := filepath.Join(folder, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
