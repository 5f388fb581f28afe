package handlertest_test

import (
	"os"
	"strings"
	"testing"
)

// The test that the documentation shows is the one that runs here.
func TestTheDocumentationShowsATestThatPasses(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(source), "\nfunc TestChargeOnce")
	shown, _, _ = strings.Cut(shown, "\n}\n")
	shown = "func TestChargeOnce" + strings.Replace(shown, "\tt.Parallel()\n", "", 1) + "\n}\n"
	if n := strings.Count(shown, "\n"); n >= 15 {
		t.Errorf("it has %d lines, want less than 15", n)
	}
	page, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), shown) {
		t.Errorf("docs/testing.md does not show\n%s", shown)
	}
}
