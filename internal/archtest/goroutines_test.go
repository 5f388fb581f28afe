package archtest_test

import (
	"testing"

	"github.com/sqsafe/sqsafe/internal/archtest"
)

func TestCheckGoroutines(t *testing.T) {
	t.Parallel()
	const listed = "package a\nfunc f() { go f() }\n"
	tests := []struct{ name, file, text, problem string }{
		{"none", "b.go", "package a\nfunc f() { f() }\n", ""},
		{"go statement", "b.go", listed, "b.go:2: this may start a goroutine"},
		{"in a test", "b_test.go", listed, ""},
		{"in another package", "c/a.go", listed, "c/a.go:2: this may start a goroutine"},
		{"within a function", "b.go", "package a\nvar _ = func() {\n\tgo f()\n}\n", "b.go:3"},
		{"wait group", "b.go", "package a\nimport \"sync\"\nfunc f(w *sync.WaitGroup) { w.Go(func() {}) }\n", "b.go:3"},
		{"timer", "b.go", "package a\nimport \"time\"\nvar _ = time.AfterFunc(1, nil)\n", "b.go:3"},
		{"end of a context", "b.go", "package a\nimport . \"context\"\nvar _ = x.AfterFunc(nil, nil)\n", "b.go:3"},
		{"passed on", "b.go", "package a\nimport t \"time\"\nvar after = t.AfterFunc\n", "b.go:3"},
		{"ticker", "b.go", "package a\nimport \"time\"\nvar _ = time.NewTicker(1)\n", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := parse(t, map[string]string{"a.go": listed, test.file: test.text})
			wantOne(t, archtest.CheckGoroutines(map[string]string{"a.go": "a reason"}, files), test.problem)
		})
	}
}

func TestTheListOfGoroutinesHasNothingElse(t *testing.T) {
	t.Parallel()
	files := parse(t, map[string]string{
		"a.go": "package a\nfunc f() { go f(); go f() }\n", "b.go": "package a\n",
	})
	got := archtest.CheckGoroutines(map[string]string{"a.go": "", "b.go": "a reason", "gone.go": "a reason"}, files)
	wantAll(t, got, "a.go may start goroutines, but", "b.go starts no goroutine", "gone.go starts no goroutine")
}
