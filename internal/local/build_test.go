package local

import (
	"context"
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/stack"
)

// source is a folder with the files.
func source(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// building is a stack of functions and the ids of those that were begun.
func building(t *testing.T, functions ...stack.Function) (*Stack, *[]string) {
	t.Helper()
	s := &Stack{template: &stack.Stack{Functions: functions}}
	begun := &[]string{}
	s.journal = newJournal(s.template, Options{Observe: func(e Event) { *begun = append(*begun, e.Function) }})
	t.Cleanup(func() { _ = os.RemoveAll(s.folder) })
	return s, begun
}

const program = "package main\n\nfunc main() {}\n"

func TestFunctionsOfOneFolderAreBuiltOnce(t *testing.T) {
	t.Parallel()
	folder := source(t, map[string]string{"go.mod": "module program\n\ngo 1.26\n", "main.go": program})
	other := source(t, map[string]string{"Makefile": "build-C build-D:\n" +
		"\tprintf '#!/bin/sh\\n'$@ > $(ARTIFACTS_DIR)/bootstrap; chmod +x $(ARTIFACTS_DIR)/*\n"})
	s, begun := building(t,
		stack.Function{LogicalID: "A", CodeURI: folder},
		stack.Function{LogicalID: "B", CodeURI: folder},
		stack.Function{LogicalID: "C", CodeURI: other, BuildMethod: makefile},
		stack.Function{LogicalID: "D", CodeURI: other, BuildMethod: makefile},
	)
	if err := s.buildAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.journal.reorder.flush()
	if diff := cmp.Diff([]string{"A", "B", "C", "D"}, *begun); diff != "" {
		t.Errorf("builds (-want +got):\n%s", diff)
	}
	if s.binaries["A"] != s.binaries["B"] {
		t.Errorf("A is built as %s and B as %s", s.binaries["A"], s.binaries["B"])
	}
	for id, want := range map[string]string{"C": "#!/bin/sh\nbuild-C", "D": "#!/bin/sh\nbuild-D"} {
		if text, err := os.ReadFile(s.binaries[id]); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v; want %q", id, text, err, want)
		}
	}
	if info, err := os.Stat(s.binaries["A"]); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("A: %v, %v; want a program", info, err)
	}
}

func TestABuildThatFailsIsNamed(t *testing.T) {
	t.Parallel()
	module := "module program\n\ngo 1.26\n"
	for _, tt := range []struct {
		name   string
		files  map[string]string
		method string
		want   string
	}{
		{"does not compile", map[string]string{"go.mod": module, "main.go": program + "func broken() { nothing() }\n"}, "",
			"function F does not build: ./main.go:4:17: undefined: nothing; run go build in "},
		{"no module", map[string]string{"main.go": program}, "", "function F does not build: go: "},
		{"no such target", map[string]string{"Makefile": "build-G:\n"}, makefile,
			"function F does not build: make: *** No rule to make target 'build-F'"},
		{"the target fails", map[string]string{"Makefile": "build-F:\n\t@echo no compiler; exit 3\n"}, makefile,
			"function F does not build: no compiler; run make build-F in "},
		{"the target makes nothing", map[string]string{"Makefile": "build-F:\n\t@true\n"}, makefile,
			"makes no $(ARTIFACTS_DIR)/bootstrap; let it"},
		{"another machine's program", map[string]string{
			"foreign":  elfProgram(t, elf.EM_RISCV, ""),
			"Makefile": "build-F:\n\t@cp foreign $(ARTIFACTS_DIR)/bootstrap; chmod +x $(ARTIFACTS_DIR)/bootstrap\n",
		}, makefile, "function F does not run here: bootstrap is a program for linux/riscv64, and this machine is "},
		{"no x bit", map[string]string{"Makefile": "build-F:\n\t@echo '#!/bin/sh' > $(ARTIFACTS_DIR)/bootstrap\n"}, makefile,
			"function F does not run here: bootstrap is not executable; let the target build-F end with chmod +x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := building(t, stack.Function{LogicalID: "F", CodeURI: source(t, tt.files), BuildMethod: tt.method})
			err := s.buildAll(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %s", err, tt.want)
			}
		})
	}
}

// TestABuildIsForThisMachine has a Makefile with another machine as its default.
func TestABuildIsForThisMachine(t *testing.T) {
	t.Parallel()
	folder := source(t, map[string]string{
		"go.mod": "module program\n\ngo 1.26\n", "main.go": program,
		"Makefile": "GOARCH ?= riscv64\nexport GOARCH\nbuild-F:\n\t@go build -o $(ARTIFACTS_DIR)/bootstrap .\n",
	})
	s, _ := building(t, stack.Function{LogicalID: "F", CodeURI: folder, BuildMethod: makefile})
	if err := s.buildAll(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestWhatABuildHasStartedEndsWithIt: a compiler below make holds the build's
// output open after make itself is gone.
func TestWhatABuildHasStartedEndsWithIt(t *testing.T) {
	t.Parallel()
	files := map[string]string{"Makefile": "build-F:\n\t@(sleep 600; true)\n"}
	s, _ := building(t, stack.Function{LogicalID: "F", CodeURI: source(t, files), BuildMethod: makefile})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := s.buildAll(ctx); err == nil || time.Since(start) > 20*time.Second {
		t.Errorf("error %v after %v, want the build to end with its context", err, time.Since(start))
	}
}

func TestABuildEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, _ := building(t, stack.Function{LogicalID: "F", CodeURI: source(t, map[string]string{"main.go": program})})
	if err := s.buildAll(ctx); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("error %v, want the context's", err)
	}
}
