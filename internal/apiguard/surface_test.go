package apiguard_test

import (
	"flag"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/apiguard"
	"github.com/sqsafe/sqsafe/internal/archtest"
)

const module = "github.com/sqsafe/sqsafe"

var update = flag.Bool("update", false, "write the golden files")

// check type-checks the source of a package.
func check(t *testing.T, source string) *types.Package {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	config := types.Config{Importer: importer.Default()}
	p, err := config.Check("example.com/p", set, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const sample = `package p

type Options struct {
	Limit int
	Name string ` + "`json:\"name\"`" + `
	hidden bool
	Base
}
type Base struct{}
func (*Base) Close() error { return nil }
func (o Options) With(limit int) Options { return Options{} }
func (o *Options) set() {}
type List[T any] []T
func Map[T, U any](list []T, f func(T) U) ([]U, error) { return nil, nil }
func Log(words ...string) {}
type Store interface { Get(key string) (int, bool); private() }
type Number interface { ~int | ~float64 }
type Alias = Options
const Max = 10
var Err error
type Kind string
const KindA Kind = "a"
`

func TestSurface(t *testing.T) {
	t.Parallel()
	want := `const KindA Kind = "a"
const Max untyped int = 10
func Log(...string)
func Map[T any, U any]([]T, func(T) U) ([]U, error)
method (*Base) Close() error
method (*Options) Close() error
method (Options) With(int) Options
type Alias = Options
type Base struct
type Kind string
type List[T any] []T
type Number interface
type Number interface, constraint ~int | ~float64
type Options struct
type Options struct, embedded Base Base
type Options struct, field Limit int
type Options struct, field Name string ` + "`json:\"name\"`" + `
type Store interface
type Store interface, method Get(string) (int, bool)
type Store interface, unexported methods
var Err error`
	got := strings.Join(apiguard.Surface(module, check(t, sample)), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("surface (-want +got):\n%s", diff)
	}
}

// TestSurfaceShowsEachChange alters one thing at a time.
func TestSurfaceShowsEachChange(t *testing.T) {
	t.Parallel()
	before := apiguard.Surface(module, check(t, sample))
	for _, c := range []struct{ name, old, replacement string }{
		{"a constant's value", "Max = 10", "Max = 11"},
		{"a field's type", "Limit int", "Limit int64"},
		{"a tag", "json:\"name\"", "json:\"title\""},
		{"a promoted method", "Base\n}", "}"},
		{"a receiver", "(o Options) With", "(o *Options) With"},
		{"a result", "Close() error { return nil }", "Close() {}"},
		{"a variadic parameter", "words ...string", "words []string"},
		{"a method of an interface", "private() }", "private(); Put(int) }"},
		{"a constraint", "~int | ~float64", "~int"},
		{"a new name", "const Max", "const Min = 1; const Max"},
	} {
		after := apiguard.Surface(module, check(t, strings.Replace(sample, c.old, c.replacement, 1)))
		if slices.Equal(before, after) {
			t.Errorf("%s: the surface is the same", c.name)
		}
	}
	unseen := strings.NewReplacer("hidden bool", "other int", "limit int", "n int").Replace(sample)
	if diff := cmp.Diff(before, apiguard.Surface(module, check(t, unseen))); diff != "" {
		t.Errorf("what is not exported changes the surface:\n%s", diff)
	}
}

// TestNoExportedNameChangesUnseen compares the public packages with docs/api.
func TestNoExportedNameChangesUnseen(t *testing.T) {
	t.Parallel()
	const root, golden = "../..", "../../docs/api"
	// Parsing opens every file, so that the go command runs this test anew when one changes.
	if _, err := archtest.ParseFiles(os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	packages, err := archtest.Packages(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	var public []string
	for _, p := range packages {
		if path := strings.TrimPrefix(p.Path, "./"); isPublic(path) {
			public = append(public, path)
		}
	}
	load, err := archtest.Importer(t.Context(), root, token.NewFileSet(), public...)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, path := range public {
		p, err := load.Import(strings.TrimSuffix(module+"/"+path, "/."))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(golden, strings.ReplaceAll(strings.Replace(path, ".", "sqsafe", 1), "/", "-")+".txt")
		known[file] = true
		compare(t, file, strings.Join(apiguard.Surface(module, p), "\n")+"\n")
	}
	files, err := filepath.Glob(golden + "/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !known[filepath.Clean(file)] {
			t.Errorf("%s belongs to no public package: a package that users import is gone", file)
		}
	}
}

func isPublic(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != "internal" && first != "functions" && first != "cmd"
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the API is not that of %s (-was +is). If you mean it, run\n"+
			"  go test ./internal/apiguard -update\nand say it in CHANGELOG.md:\n%s", file, diff)
	}
}
