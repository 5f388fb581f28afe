package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// File is a parsed Go file.
type File struct {
	// Name is the file's path below the module's root.
	Name  string
	Lines int
	Set   *token.FileSet
	AST   *ast.File
}

// IsTest tells a file that only tests are built from.
func (f File) IsTest() bool { return strings.HasSuffix(f.Name, "_test.go") }

// Package is the file's package in the form of [Row.Path].
func (f File) Package() string {
	if dir := path.Dir(f.Name); dir != "." {
		return ours + dir
	}
	return "."
}

// At gives the place of a node for a message.
func (f File) At(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.Name, f.Set.Position(n.Pos()).Line)
}

// ParseFiles parses the hand-written Go files of a module. Folders that the go
// command ignores are left out.
func ParseFiles(module fs.FS) ([]File, error) {
	var files []File
	set := token.NewFileSet()
	err := fs.WalkDir(module, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if ignored(entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		file, err := parseFile(module, set, name)
		if err == nil && !ast.IsGenerated(file.AST) {
			files = append(files, file)
		}
		return err
	})
	return files, err
}

func ignored(dir string) bool {
	return dir != "." && (dir[0] == '.' || dir[0] == '_') || dir == "testdata"
}

func parseFile(module fs.FS, set *token.FileSet, name string) (File, error) {
	text, err := fs.ReadFile(module, name)
	if err != nil {
		return File{}, err
	}
	syntax, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return File{Name: name, Lines: bytes.Count(text, []byte("\n")), Set: set, AST: syntax}, err
}

// calls gives the calls of the named functions of a package, such as "os" and
// "Exit", wherever they are in the file.
func (f File) calls(pkg string, names ...string) []*ast.SelectorExpr {
	local := f.localName(pkg)
	if local == "" {
		return nil
	}
	var found []*ast.SelectorExpr
	ast.Inspect(f.AST, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		base, ok := selector.X.(*ast.Ident)
		if ok && base.Name == local && slices.Contains(names, selector.Sel.Name) {
			found = append(found, selector)
		}
		return true
	})
	return found
}

// localName is what the file calls an imported package; empty if it does not
// import it.
func (f File) localName(pkg string) string {
	for _, spec := range f.AST.Imports {
		if strings.Trim(spec.Path.Value, `"`) != pkg {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(pkg)
	}
	return ""
}

// hasExample tells whether one of the test files has an example that is run.
func hasExample(files []*ast.File) bool {
	for _, example := range doc.Examples(files...) {
		if example.Output != "" || example.EmptyOutput {
			return true
		}
	}
	return false
}
