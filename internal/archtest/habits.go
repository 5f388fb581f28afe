package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// CheckHosts reports the files that read the environment or end the process in a
// package that may not.
func CheckHosts(rows []Row, files []File) []string {
	var problems []string
	for _, f := range files {
		if row, ok := rowOf(rows, f.Package()); f.IsTest() || ok && row.Host {
			continue
		}
		found := slices.Concat(
			f.calls("os", "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Exit"),
			f.calls("syscall", "Getenv", "Environ", "Exit"),
			f.calls("log", "Fatal", "Fatalf", "Fatalln"),
		)
		for _, call := range found {
			problems = append(problems, fmt.Sprintf(
				"%s: %s: only hosts read the environment or end the process: take the value as an argument, return an error",
				f.At(call), call.Sel.Name))
		}
	}
	return problems
}

// CheckSleeps tells which tests wait by the machine's clock.
func CheckSleeps(files []File) []string {
	var problems []string
	for _, f := range files {
		if !f.IsTest() && !isTestPackage(f.Package()) {
			continue
		}
		for _, call := range f.calls("time", "Sleep") {
			problems = append(problems, fmt.Sprintf(
				"%s: time.Sleep in a test: wait for the event itself, or use the injected clock or testing/synctest",
				f.At(call)))
		}
	}
	return problems
}

// CheckDocs tells which packages have no package comment, and which public
// packages have no example with output.
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
	}
	return problems
}

// isPublic tells a package that users import and can use outside of a test.
func isPublic(pkg string, file *ast.File) bool {
	internal := slices.Contains(strings.Split(pkg, "/"), "internal")
	return !internal && !isTestPackage(pkg) && file.Name.Name != "main"
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
