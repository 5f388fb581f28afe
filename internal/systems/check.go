package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
)

// mostErrors is how many errors of a package are shown.
const mostErrors = 10

// check checks the types of the packages in their order, and returns the number of ours.
// Function bodies of others are taken to be right.
func check(packages []*listed, goarch string) (ours int, err error) {
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	var problems []error
	for _, l := range packages {
		// The main package of a test is generated, and not there yet.
		if l.ImportPath == "unsafe" || strings.HasSuffix(l.ImportPath, ".test") {
			continue
		}
		pkg, errs := one(l, checked, goarch)
		checked[l.ImportPath] = pkg
		if l.ours() {
			ours++
			problems = append(problems, errs...)
		}
	}
	return ours, errors.Join(problems...)
}

// imports finds the imports of one package among those that were checked.
type imports struct {
	*listed
	checked map[string]*types.Package
}

func (i imports) Import(path string) (*types.Package, error) {
	if mapped, ok := i.ImportMap[path]; ok {
		path = mapped
	}
	if pkg := i.checked[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("package %s was not listed before %s", path, i.ImportPath)
}

func one(l *listed, checked map[string]*types.Package, goarch string) (*types.Package, []error) {
	var errs []error
	keep := func(err error) {
		if len(errs) < mostErrors {
			errs = append(errs, err)
		}
	}
	mode := parser.SkipObjectResolution
	if l.ours() {
		mode |= parser.AllErrors
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range l.GoFiles {
		if !filepath.IsAbs(name) { // generated files are in the cache
			name = filepath.Join(l.Dir, name)
		}
		file, err := parser.ParseFile(fset, name, nil, mode)
		if err != nil {
			keep(err)
		}
		if file != nil {
			files = append(files, file)
		}
	}
	config := types.Config{
		Importer: imports{l, checked}, IgnoreFuncBodies: !l.ours(), Error: keep, Sizes: types.SizesFor("gc", goarch),
		FakeImportC: true,
	}
	path, _, _ := strings.Cut(l.ImportPath, " ") // "path [path.test]" is path, for a test
	pkg, _ := config.Check(path, fset, files, nil)
	return pkg, errs
}
