package archtest

import (
	"fmt"
	"go/ast"
	"slices"
)

// Limits are the bars for the length of files and functions, in lines. Medians
// and percentiles are over all code that is not a test.
type Limits struct {
	File, TestFile, FileMedian            int
	Function, FunctionMedian, FunctionP90 int
}

// ModuleLimits are this module's.
func ModuleLimits() Limits {
	return Limits{
		File: 500, TestFile: 800, FileMedian: 150,
		Function: 80, FunctionMedian: 10, FunctionP90: 30,
	}
}

// CheckSizes tells which files and functions are over the limits.
func CheckSizes(limits Limits, files []File) []string {
	var problems []string
	var fileLines, functionLines []int
	for _, f := range files {
		if f.IsTest() {
			problems = append(problems, over("file "+f.Name, f.Lines, limits.TestFile)...)
			continue
		}
		fileLines = append(fileLines, f.Lines)
		problems = append(problems, over("file "+f.Name, f.Lines, limits.File)...)
		for _, function := range functions(f) {
			lines := length(f, function)
			functionLines = append(functionLines, lines)
			problems = append(problems, over(f.At(function)+": function "+function.Name.Name, lines, limits.Function)...)
		}
	}
	return slices.Concat(problems,
		over("the median file", percentile(fileLines, 50), limits.FileMedian),
		over("the median function", percentile(functionLines, 50), limits.FunctionMedian),
		over("the function at the 90th percentile", percentile(functionLines, 90), limits.FunctionP90),
	)
}

func over(what string, lines, limit int) []string {
	if lines <= limit {
		return nil
	}
	return []string{fmt.Sprintf("%s has %d lines, the limit is %d: split it", what, lines, limit)}
}

func functions(f File) []*ast.FuncDecl {
	var found []*ast.FuncDecl
	for _, declaration := range f.AST.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			found = append(found, function)
		}
	}
	return found
}

func length(f File, n ast.Node) int {
	return f.Set.Position(n.End()).Line - f.Set.Position(n.Pos()).Line + 1
}

// percentile gives the smallest value that p percent of the values do not
// exceed; 0 for no values.
func percentile(values []int, p int) int {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}
