package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page of guarantees names tests of the package before them, and promises that the
// simulator checks. All of them have to exist.
func TestThePageOfGuaranteesNamesWhatExists(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	page := read(t, filepath.Join(root, "docs", "guarantees.md"))
	page, _, _ = strings.Cut(page, "<!-- faults:") // internal/mutants checks its own table
	named := regexp.MustCompile("`([a-z/]+)`(?::|\\s)|`(Test[A-Za-z]+)`")
	folder, tests := "", 0
	for _, m := range named.FindAllStringSubmatch(page, -1) {
		if m[1] != "" {
			folder = m[1]
			continue
		}
		tests++
		if !strings.Contains(testsOf(t, filepath.Join(root, folder)), "func "+m[2]+"(") {
			t.Errorf("docs/guarantees.md names %s of %s, which does not exist", m[2], folder)
		}
	}
	if tests < 20 {
		t.Errorf("docs/guarantees.md names %d tests, want 20 at least: is the pattern still right?", tests)
	}

	simulator := testsOf(t, filepath.Join(root, "internal", "simulation", "system"))
	promises := 0
	for _, line := range regexp.MustCompile("Simulator: ([`a-z ,\n]+)\\.").FindAllStringSubmatch(page, -1) {
		for _, m := range regexp.MustCompile("`([a-z ]+)`").FindAllStringSubmatch(line[1], -1) {
			promises++
			if !strings.Contains(simulator, `("`+m[1]+`"`) {
				t.Errorf("docs/guarantees.md names the promise %q, which the simulator does not check", m[1])
			}
		}
	}
	if promises < 15 {
		t.Errorf("docs/guarantees.md names %d promises of the simulator, want 15 at least", promises)
	}
}

// testsOf is the text of all test files of a folder.
func testsOf(t *testing.T, folder string) string {
	t.Helper()
	names, err := fs.Glob(os.DirFS(folder), "*_test.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("%s has no tests (%v)", folder, err)
	}
	var text strings.Builder
	for _, name := range names {
		text.WriteString(read(t, filepath.Join(folder, name)))
	}
	return text.String()
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
