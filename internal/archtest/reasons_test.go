package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A reason says in logs, metrics and dead letters why something has happened. Three
// packages set reasons. One word has one meaning, and the docs have each of them.
func TestReasonsAreDistinctAndDocumented(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	files, err := ParseFiles(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	pages := read(t, filepath.Join(root, "docs", "errors.md")) + read(t, filepath.Join(root, "docs", "batches.md"))
	places := map[string]string{
		"cancelled": "fault", // the process is stopping: at the end of a run, and before a start
	}
	reasons := 0
	for _, f := range files {
		if pkg := relative(f.Package()); f.IsTest() || pkg != "fault" && pkg != "handler" && pkg != "idem" {
			continue
		}
		for name, value := range reasonsOf(f.AST) {
			reasons++
			place := relative(f.Package())
			if other := places[value]; other != "" && value != "cancelled" {
				t.Errorf("%s.%s is %q, as in %s: one of the two needs another word", place, name, value, other)
			}
			places[value] = place
			if !strings.Contains(pages, "`"+value+"`") {
				t.Errorf("%s.%s is %q: docs/errors.md and docs/batches.md say nothing of it", place, name, value)
			}
		}
	}
	if reasons < 40 {
		t.Errorf("%d reasons found, want 40 at least: is the pattern still right?", reasons)
	}
}

// reasonsOf gives the constants of a file whose names begin with Reason.
func reasonsOf(file *ast.File) map[string]string {
	reasons := map[string]string{}
	for _, d := range file.Decls {
		constants, ok := d.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		for _, spec := range constants.Specs {
			v := spec.(*ast.ValueSpec)
			for i, name := range v.Names {
				if !strings.HasPrefix(name.Name, "Reason") || i >= len(v.Values) {
					continue
				}
				if literal, ok := v.Values[i].(*ast.BasicLit); ok {
					reasons[name.Name], _ = strconv.Unquote(literal.Value)
				}
			}
		}
	}
	return reasons
}
