package handlertest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every block of Go of docs/testing.md is a part of the files of tests here and in package
// sqsafetest, so what readers copy compiles and passes.
func TestTheManualShowsWhatRunsHere(t *testing.T) {
	t.Parallel()
	tests := read(t, "example_test.go") + read(t, "docs_test.go") +
		read(t, "../../sqsafetest/example_test.go") + read(t, "../../sqsafetest/manual_test.go")
	tests = regexp.MustCompile(`(?m)^\t+t\.Parallel\(\)\n`).ReplaceAllString(tests, "")
	shown := blocks(read(t, "../../docs/testing.md"))
	for _, block := range shown {
		if !strings.Contains(tests, code(block)) {
			t.Errorf("docs/testing.md shows what no test here has:\n%s", block)
		}
	}
	if len(shown) != 15 {
		t.Errorf("docs/testing.md has %d blocks of Go, want 15", len(shown))
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks are the blocks of Go on a page.
func blocks(page string) (all []string) {
	for _, part := range strings.Split(page, "```go\n")[1:] {
		block, _, _ := strings.Cut(part, "```\n")
		all = append(all, block)
	}
	return all
}

// code is a block without the head of a whole file.
func code(block string) string {
	if _, body, ok := strings.Cut(block, "\n)\n\n"); ok && strings.HasPrefix(block, "package main\n") {
		return body
	}
	return block
}
