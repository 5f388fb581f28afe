package handlertest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every block of Go of these pages is a part of the files of tests here and in package
// sqsafetest, so what readers copy compiles and passes.
func TestTheManualShowsWhatRunsHere(t *testing.T) {
	t.Parallel()
	tests := read(t, "example_test.go") + read(t, "docs_test.go") +
		read(t, "../../sqsafetest/example_test.go") + read(t, "../../sqsafetest/manual_test.go")
	tests = regexp.MustCompile(`(?m)^\t+t\.Parallel\(\)\n`).ReplaceAllString(tests, "")
	for _, page := range []struct {
		name   string
		blocks int
	}{{"../../docs/testing.md", 15}, {"../../README.md", 1}} {
		shown := 0
		for _, block := range blocks(read(t, page.name)) {
			if page.name != "../../docs/testing.md" && !strings.Contains(block, "func Test") {
				continue
			}
			shown++
			if !strings.Contains(tests, code(block)) {
				t.Errorf("%s shows what no test here has:\n%s", page.name, block)
			}
		}
		if shown != page.blocks {
			t.Errorf("%s has %d blocks of tests, want %d", page.name, shown, page.blocks)
		}
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
