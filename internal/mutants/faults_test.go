package main

import (
	"flag"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of docs/guarantees.md")

// module is the root of the module as the tests of this package see it.
const module = "../.."

func allFaults(t *testing.T) []fault {
	t.Helper()
	faults, err := readFaults(folder)
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// A fault whose text the code does not have any more, or whose test is gone, proves
// nothing.
func TestEveryFaultApplies(t *testing.T) {
	t.Parallel()
	faults := allFaults(t)
	if len(faults) < 40 {
		t.Errorf("%d faults, want at least 40", len(faults))
	}
	tests := map[string]map[string]bool{}
	for i := range faults {
		f := &faults[i]
		faulty, _, err := f.apply(func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(module, name)) })
		if err != nil {
			t.Errorf("fault %q: %v", f.Name, err)
			continue
		}
		for name, text := range faulty {
			if filepath.Ext(name) != ".go" {
				continue
			}
			if _, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution); err != nil {
				t.Errorf("fault %q is no Go: %v", f.Name, err)
			}
		}
		if titles[f.area] == "" {
			t.Errorf("faults/%s.yaml has no title in table.go", f.area)
		}
		to := f.target()
		if tests[to.packageName] == nil {
			tests[to.packageName] = testNames(t, to.packageName)
		}
		for _, name := range to.tests {
			if !tests[to.packageName][name] {
				t.Errorf("fault %q: %s has no test %s", f.Name, to.packageName, name)
			}
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

func testNames(t *testing.T, packageName string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(module, packageName, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range testFunction.FindAllStringSubmatch(string(text), -1) {
			names[match[1]] = true
		}
	}
	return names
}

func TestTheDocumentHasTheFaults(t *testing.T) {
	t.Parallel()
	path := filepath.Join(module, "docs", "guarantees.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := replaceTable(string(text), table(allFaults(t)))
	if err != nil {
		t.Fatal(err)
	}
	if want == string(text) {
		return
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s does not have the faults of the folder faults: go test ./internal/mutants -update", path)
}

func TestADocumentWithoutMarksIsRefused(t *testing.T) {
	t.Parallel()
	for _, document := range []string{"", tableBegins, tableEnds, tableEnds + tableBegins} {
		if _, err := replaceTable(document, ""); err == nil || !strings.Contains(err.Error(), tableBegins) {
			t.Errorf("%q: error %v, want one that names the marks", document, err)
		}
	}
}
