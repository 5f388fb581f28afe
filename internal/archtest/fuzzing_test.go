package archtest_test

import (
	"testing"

	"github.com/sqsafe/sqsafe/internal/archtest"
)

func TestCheckFuzzing(t *testing.T) {
	t.Parallel()
	const reader = "package a\nimport \"encoding/json\"\nvar _ = json.Unmarshal\n"
	tests := []struct{ name, file, text, problem string }{
		{"listed", "c/c.go", "package c\n", ""},
		{"reads without a target", "b/b.go", reader, "b/b.go:3: ./b reads a text and has no fuzz target"},
		{"numbers", "b/b.go", "package b\nimport \"strconv\"\nvar _, _ = strconv.Atoi(\"1\")\n", "./b reads a text"},
		{"only writes", "b/b.go", "package b\nimport \"encoding/json\"\nvar _ = json.Marshal\n", ""},
		{"in a test", "b/b_test.go", reader, ""},
		{"in a package of tests", "btest/b.go", reader, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := parse(t, map[string]string{"a/a.go": reader, test.file: test.text})
			wantOne(t, archtest.CheckFuzzing(files, map[string]string{"./a": "a reason"}), test.problem)
		})
	}
	files := parse(t, map[string]string{
		"a/a.go": reader, "a/a_test.go": "package a\nfunc FuzzA(f *testing.F) {}\n", "b/b.go": "package b\n",
	})
	got := archtest.CheckFuzzing(files, map[string]string{"./b": "a reason", "./a": "a reason"})
	wantAll(t, got, "./a is in Unfuzzed and reads no text", "./b is in Unfuzzed and reads no text")
}
