package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small is a module with a test that finds one of its faults.
func small(t *testing.T) tree {
	t.Helper()
	at := tree{module: t.TempDir(), copied: t.TempDir()}
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"a.go":   "package m\n\nfunc Double(n int) int { return 2 * n }\n\nfunc Half(n int) int { return n / 2 }\n",
		"a_test.go": "package m\n\nimport \"testing\"\n\n" +
			"func TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Error(4)\n\t}\n}\n",
		".git/kept":     "of a tool",
		"sub/text.txt":  "one",
		".hidden.file":  "two",
		"sub/.ci/check": "three",
	} {
		path := filepath.Join(at.module, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

func TestSurvivorsAreNamed(t *testing.T) {
	t.Parallel()
	at := small(t)
	made := func(name, old, replaced, test string) fault {
		return fault{
			Name: name, Fault: "f", Harm: "h", edit: edit{"a.go", old, replaced},
			Package: ".", Test: test, area: "x",
		}
	}
	var out bytes.Buffer
	err := at.tryAll(t.Context(), []fault{
		made("found", "2 * n", "3 * n", "TestDouble"),
		made("missed", "n / 2", "n / 3", "TestDouble"),
		made("unbuilt", "n / 2", "n / k", "TestDouble"),
		made("stale", "n / 5", "n / 6", "TestDouble"),
	}, 2, &out)
	if err == nil || err.Error() != "not caught: missed, unbuilt, stale" {
		t.Errorf("error %v, want the three that were not caught", err)
	}
	for _, want := range []string{
		"found                            by TestDouble in .", "missed: it SURVIVED", "write a test",
		"unbuilt: the code does not build", "undefined: k", "stale: fault \"stale\" no longer applies", "4 faults, 1 caught",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in the report:\n%s", want, &out)
		}
	}
	for _, dir := range []string{at.module, at.copied} {
		text, err := os.ReadFile(filepath.Join(dir, "a.go"))
		if err != nil || !strings.Contains(string(text), "return 2 * n") || !strings.Contains(string(text), "n / 2") {
			t.Errorf("a fault stayed in %s: %v\n%s", dir, err, text)
		}
	}
}

func TestATestThatFailsAnywayProvesNothing(t *testing.T) {
	t.Parallel()
	at := small(t)
	broken := []byte("package m\n\nfunc Double(n int) int { return n }\n")
	if err := os.WriteFile(filepath.Join(at.module, "a.go"), broken, 0o600); err != nil {
		t.Fatal(err)
	}
	faults := []fault{{
		Name: "one", edit: edit{"a.go", "return n", "return 0"}, Package: ".", Test: "TestDouble",
	}}
	err := at.tryAll(t.Context(), faults, 1, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "fails without any fault") {
		t.Errorf("error %v, want that the test fails without any fault", err)
	}
	faults[0].Test = "TestHalf"
	err = at.tryAll(t.Context(), faults, 1, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "no test of that name") {
		t.Errorf("error %v, want that there is no such test", err)
	}
}

// What an interrupted run has left in the copy is gone, and what belongs to tools is not
// copied.
func TestTheCopyIsMadeEqual(t *testing.T) {
	t.Parallel()
	at := small(t)
	for name, text := range map[string]string{"a.go": "package faulty\n", "old.go": "package m\n"} {
		if err := os.WriteFile(filepath.Join(at.copied, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := at.refresh(); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	err := eachFile(at.copied, func(name string) error {
		got = append(got, filepath.ToSlash(name))
		return nil
	})
	want := ".hidden.file a.go a_test.go go.mod sub/.ci/check sub/text.txt"
	if err != nil || strings.Join(got, " ") != want {
		t.Errorf("the copy has %v, %v; want %s", got, err, want)
	}
	text, err := os.ReadFile(filepath.Join(at.copied, "a.go"))
	if err != nil || !strings.Contains(string(text), "func Double") {
		t.Errorf("a.go of the copy is %q, %v; want that of the module", text, err)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	tests := []struct{ arguments, problem string }{
		{"-name nothing", "no fault \"nothing\""},
		{"-area nothing", "no file faults/nothing.yaml"},
		{"-some -1", "below 0"},
		{"more", "no arguments"},
		{"-list -area ledger", ""},
		{"-help", ""},
	}
	for _, test := range tests {
		t.Run(test.arguments, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			err := run(t.Context(), strings.Fields(test.arguments), &out)
			switch {
			case test.problem == "" && (err != nil || out.Len() == 0):
				t.Errorf("error %v and %q, want some output", err, &out)
			case test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)):
				t.Errorf("error %v, want one with %q", err, test.problem)
			}
		})
	}
}
