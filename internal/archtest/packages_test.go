package archtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/archtest"
)

// write lays out a module of the given files and gives its root.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPackages(t *testing.T) {
	t.Parallel()
	root := write(t, map[string]string{
		"go.mod":        "module example.com/m\n",
		"m.go":          "package m\n",
		"a/a.go":        "package a\nimport _ \"example.com/m\"\nimport _ \"unsafe\"\n",
		"a/a_test.go":   "package a\nimport _ \"errors\"\n",
		"a/x_test.go":   "package a_test\nimport _ \"example.com/m/a\"\nimport _ \"errors\"\n",
		"b/internal.go": "package b\nimport _ \"example.com/m/a\"\n",
	})
	got, err := archtest.Packages(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	want := []archtest.Package{
		{Path: ".", Imports: []string{}, TestImports: []string{}, Deps: []string{}},
		{
			Path: "./a", Imports: []string{".", "unsafe"},
			TestImports: []string{"./a", "errors"}, Deps: []string{".", "unsafe"},
		},
		{Path: "./b", Imports: []string{"./a"}, TestImports: []string{}, Deps: []string{".", "./a", "unsafe"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
}

func TestPackagesReportsWhatGoSays(t *testing.T) {
	t.Parallel()
	root := write(t, map[string]string{
		"go.mod": "module example.com/m\n",
		"m.go":   "package m\nimport (\n",
	})
	_, err := archtest.Packages(t.Context(), root)
	if err == nil || !strings.Contains(err.Error(), "m.go:2:10") {
		t.Errorf("error %v, want the place of the mistake", err)
	}
}
