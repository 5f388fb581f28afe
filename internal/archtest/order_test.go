package archtest_test

import (
	"go/importer"
	"testing"

	"github.com/sqsafe/sqsafe/internal/archtest"
)

func TestCheckOrder(t *testing.T) {
	t.Parallel()
	const low = "package p\nfunc low() {}\ntype part struct{ n int }\nvar count int\nconst most = 9\n"
	tests := []struct{ name, first, second, problem string }{
		{"downwards", low, "package p\nfunc high(p part) int { low(); return p.n + count + most }\n", ""},
		{"within a file", "package p\nfunc a() { b() }\nfunc b() { a() }\n", "package p\n", ""},
		{
			"function", "package p\nfunc high() { low() }\n", low,
			"p/first.go:2: low is declared in second.go, a later file",
		},
		{"type", "package p\ntype whole []part\n", low, "p/first.go:2: part is declared"},
		{"variable", "package p\nvar half = count / 2\n", low, "p/first.go:2: count is declared"},
		{"constant", "package p\nconst half = most / 2\n", low, "p/first.go:2: most is declared"},
		{"function that is passed on", "package p\nvar f = low\n", low, "p/first.go:2: low is declared"},
		{
			"method of an earlier type", "package p\ntype t struct{}\nfunc f(x t) { x.high() }\n",
			"package p\nfunc (t) high() {}\n", "p/first.go:3: high is declared in second.go",
		},
		{
			"method of a generic type", "package p\ntype t[A any] struct{}\nfunc f(x t[int]) { x.high() }\n",
			"package p\nfunc (t[A]) high() {}\n", "p/first.go:3: high is declared in second.go",
		},
		{
			"method by way of an interface", "package p\ntype t interface{ high() }\nfunc f(x t) { x.high() }\n",
			"package p\ntype u struct{}\nfunc (u) high() {}\n", "",
		},
		{
			"method whose type comes later", "package p\nfunc (t) low() {}\n", "package p\ntype t struct{}\n",
			"p/first.go:2: t is declared",
		},
		{
			"several uses of one name", "package p\nfunc f() {\n\tlow()\n\tlow()\n}\n", low,
			"p/first.go:3: low is declared",
		},
		{"local name", "package p\nfunc f() { low := 1; _ = low }\n", low, ""},
		{"field", "package p\nfunc f() { _ = struct{ count int }{count: 1}.count }\n", low, ""},
		{
			"name of another package", "package p\nimport \"strings\"\nvar f = strings.Count\n",
			"package p\nfunc Count() {}\n", "",
		},
		{"file that does not compile", "package p\nvar a = unknown\n", low, "p/first.go:2:9: undefined: unknown"},
	}
	order := archtest.Order{Package: "p", Files: []string{"first.go", "second.go"}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := parse(t, map[string]string{
				"p/second.go": test.second, "p/first.go": test.first,
				"p/first_test.go": "package p\nvar _ = count\n", "q/first.go": "package q\nfunc low() {}\n",
			})
			wantOne(t, archtest.CheckOrder(order, files, importer.Default()), test.problem)
		})
	}
}

func TestAnOrderHasAllFiles(t *testing.T) {
	t.Parallel()
	files := parse(t, map[string]string{"a.go": "package p\n", "new.go": "package p\n", "q/q.go": "package q\n"})
	order := archtest.Order{Package: ".", Files: []string{"gone.go", "a.go"}}
	got := archtest.CheckOrder(order, files, importer.Default())
	wantAll(t, got, "new.go is not in the order", "the order of . has gone.go, which is none of its files")
}
