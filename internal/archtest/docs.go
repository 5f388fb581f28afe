package archtest

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// CheckDocs reports the packages that have no package comment, and the public
// packages that have no example with output, or whose comment is not ordered as the
// others are: what it is for, an example, when it is needed, headings, of which the last
// are Errors and Concurrency.
func CheckDocs(files []File) []string {
	var problems []string
	packages := byPackage(files)
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		code, tests := split(packages[pkg])
		if len(code) == 0 {
			continue
		}
		if !slices.ContainsFunc(code, func(f *ast.File) bool { return f.Doc != nil }) {
			problems = append(problems, pkg+" has no package comment: add a doc.go")
		}
		if isPublic(pkg, code[0]) && !hasExample(tests) {
			problems = append(problems, pkg+" has no Example with an Output comment: add an example_test.go")
		}
		if isPublic(pkg, code[0]) && !isOrdered(code) {
			problems = append(problems, pkg+" has a package comment without an example before its first heading, "+
				"or without the headings Errors and Concurrency as the last two: see doc.go of package fault")
		}
	}
	return problems
}

// isOrdered reports whether a package comment is ordered as all are. A file without one is
// left to other checks.
func isOrdered(code []*ast.File) bool {
	for _, file := range code {
		if file.Doc == nil {
			continue
		}
		text := file.Doc.Text()
		before, _, _ := strings.Cut(text, "\n# ")
		errors, concurrency := strings.Index(text, "\n# Errors\n"), strings.Index(text, "\n# Concurrency\n")
		return strings.Contains(before, "\n\t") && errors > 0 && errors < concurrency &&
			strings.Count(text[errors:], "\n# ") == 2
	}
	return true
}

// isPublic reports whether users can import the package.
func isPublic(pkg string, file *ast.File) bool {
	return !slices.Contains(strings.Split(pkg, "/"), "internal") && file.Name.Name != "main"
}

func byPackage(files []File) map[string][]File {
	packages := map[string][]File{}
	for _, f := range files {
		packages[f.Package()] = append(packages[f.Package()], f)
	}
	return packages
}

func split(files []File) (code, tests []*ast.File) {
	for _, f := range files {
		if f.IsTest() {
			tests = append(tests, f.AST)
		} else {
			code = append(code, f.AST)
		}
	}
	return code, tests
}

// CheckComments reports the exported names of public packages that have no doc
// comment: functions, types, constants, variables, and methods of exported types.
// One comment is enough for a group of constants or variables. The members of a
// type are left to the reader: one comment often speaks of several of them.
func CheckComments(files []File) []string {
	var problems []string
	for _, f := range files {
		if f.IsTest() || !isPublic(f.Package(), f.AST) {
			continue
		}
		for _, name := range uncommented(f.AST) {
			problems = append(problems, f.At(name)+": "+name.Name+" has no doc comment: say what it does")
		}
	}
	return problems
}

func uncommented(file *ast.File) []*ast.Ident {
	var found []*ast.Ident
	need := func(names []*ast.Ident, comments ...*ast.CommentGroup) {
		commented := slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c.Text() != "" })
		for _, name := range names {
			if name.IsExported() && !commented {
				found = append(found, name)
			}
		}
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d)) {
				need([]*ast.Ident{d.Name}, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					need(s.Names, d.Doc, s.Doc, s.Comment)
				case *ast.TypeSpec:
					need([]*ast.Ident{s.Name}, d.Doc, s.Doc)
				}
			}
		}
	}
	return found
}

// receiver returns the name of the type that has a method.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		case *ast.Ident:
			return of.Name
		default:
			return ""
		}
	}
}
