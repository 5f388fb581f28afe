package archtest_test

import (
	"testing"

	"github.com/sqsafe/sqsafe/internal/archtest"
)

func TestCheckDocs(t *testing.T) {
	t.Parallel()
	const documented = "// Package a is one.\n//\n//\ta.Do()\n//\n// # Errors\n//\n// None.\n//\n" +
		"// # Concurrency\n//\n// Safe.\npackage a\n"
	const unordered = "// Package a is one.\n//\n//\ta.Do()\n//\n" +
		"// # Concurrency\n//\n// Safe.\n//\n// # Errors\npackage a\n"
	const late = "// Package a is one.\n//\n// # Errors\n//\n//\ta.Do()\n//\n" +
		"// # Concurrency\n//\n// Safe.\npackage a\n"
	const example = "package a_test\nfunc Example() {\n\t// Output: 1\n}\n"
	const compiled = "package a_test\nfunc Example() {}\n"
	tests := []struct {
		name    string
		sources map[string]string
		problem string
	}{
		{"complete", map[string]string{"a/doc.go": documented, "a/b.go": "package a\n", "a/x_test.go": example}, ""},
		{"no comment", map[string]string{"a/a.go": "package a\n", "a/x_test.go": example}, "./a has no package comment"},
		{"no example", map[string]string{"a/doc.go": documented}, "./a has no Example"},
		{"example that is not run", map[string]string{"a/doc.go": documented, "a/x_test.go": compiled}, "./a has no Example"},
		{"another order", map[string]string{"a/doc.go": unordered, "a/x_test.go": example}, "./a has a package comment"},
		{"late example", map[string]string{"a/doc.go": late, "a/x_test.go": example}, "./a has a package comment"},
		{"root", map[string]string{"doc.go": documented}, ". has no Example"},
		{"internal", map[string]string{"internal/a/doc.go": documented}, ""},
		{"test package", map[string]string{"a/atest/doc.go": documented}, "./a/atest has no Example"},
		{"program", map[string]string{"a/main.go": "// A runs.\npackage main\n"}, ""},
		{"tests alone", map[string]string{"a/x_test.go": compiled}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wantOne(t, archtest.CheckDocs(parse(t, test.sources)), test.problem)
		})
	}
}

func TestCheckComments(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, text, problem string }{
		{"function", "a.go", "func F() {}", "a.go:2: F has no doc comment"},
		{"function with one", "a.go", "// F is one.\nfunc F() {}", ""},
		{"directive", "a.go", "//go:noinline\nfunc F() {}", "F has no doc comment"},
		{"comment apart", "a.go", "// F is one.\n\nfunc F() {}", "F has no doc comment"},
		{"function that is not exported", "a.go", "func f() {}", ""},
		{"type", "a.go", "type T int", "T has no doc comment"},
		{"type in a group", "a.go", "type (\n\t// S is one.\n\tS int\n\tT int\n)", "a.go:5: T has no doc comment"},
		{"constant", "a.go", "const C = 1", "C has no doc comment"},
		{"group of constants", "a.go", "// Kinds of things.\nconst (\n\tA = iota\n\tB\n)", ""},
		{"comment at the end of the line", "a.go", "const (\n\tA = iota // one\n\tB // another\n)", ""},
		{"one of several constants", "a.go", "const (\n\tA = iota // one\n\tB\n)", "a.go:4: B has no doc comment"},
		{"variable", "a.go", "var a, V = 1, 2", "V has no doc comment"},
		{"method", "a.go", "func (t *T) M() {}", "M has no doc comment"},
		{"method of a generic type", "a.go", "func (t T[A, B]) M() {}", "M has no doc comment"},
		{"method of a type that is not exported", "a.go", "func (t t) M() {}", ""},
		{"field", "a.go", "// T is one.\ntype T struct{ F int }", ""},
		{"test", "a_test.go", "func F() {}", ""},
		{"test package", "atest/a.go", "func F() {}", "F has no doc comment"},
		{"internal", "internal/a/a.go", "func F() {}", ""},
		{"program", "cmd/main.go", "func F() {}", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			pkg := "a"
			if test.file == "cmd/main.go" {
				pkg = "main"
			}
			files := parse(t, map[string]string{test.file: "package " + pkg + "\n" + test.text + "\n"})
			wantOne(t, archtest.CheckComments(files), test.problem)
		})
	}
}
