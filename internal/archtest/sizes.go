package archtest

import (
	"fmt"
	"go/ast"
)

// Limits are the upper limits for the length of files and functions, in lines. The
// limit for functions is not for tests.
type Limits struct{ File, TestFile, Function int }

// ModuleLimits are this module's.
func ModuleLimits() Limits { return Limits{File: 500, TestFile: 800, Function: 80} }

// CheckSizes reports the files and functions that are over the limits.
func CheckSizes(limits Limits, files []File) []string {
	var problems []string
	for _, f := range files {
		if f.IsTest() {
			problems = append(problems, over("file "+f.Name, f.Lines, limits.TestFile)...)
			continue
		}
		problems = append(problems, over("file "+f.Name, f.Lines, limits.File)...)
		for _, declaration := range f.AST.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok {
				name := f.At(function) + ": function " + function.Name.Name
				problems = append(problems, over(name, length(f, function), limits.Function)...)
			}
		}
	}
	return problems
}

func over(what string, lines, limit int) []string {
	if lines <= limit {
		return nil
	}
	return []string{fmt.Sprintf("%s has %d lines, the limit is %d: split it", what, lines, limit)}
}

func length(f File, n ast.Node) int {
	return f.Set.Position(n.End()).Line - f.Set.Position(n.Pos()).Line + 1
}
