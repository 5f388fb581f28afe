package archtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/archtest"
)

const sqs = "github.com/aws/aws-sdk-go-v2/service/sqs"

const deep = "example.com/deep"

// rows is a table as small as the rules allow.
func rows() []archtest.Row {
	return []archtest.Row{
		{Path: "leaf", Never: []string{"./...", "third-party/..."}},
		{Path: "core", Ours: []string{"leaf"}, Third: []string{"example.com/events"}, Never: []string{sqs + "/..."}},
		{Path: "core/suitetest", Ours: []string{"core"}},
		{Path: "core/dynamo", Ours: []string{"core"}, Third: []string{deep}, Tests: []string{"leaf"}},
	}
}

// clean are packages that use all that the table allows, and no more.
func clean() []archtest.Package {
	return []archtest.Package{
		{Path: "./leaf", Imports: []string{"errors"}, Deps: []string{"errors", "internal/abi", "vendor/golang.org/x/net"}},
		{Path: "./core", Imports: []string{"./leaf", "example.com/events"}, Deps: []string{"./leaf", "example.com/events"}},
		{Path: "./core/suitetest", Imports: []string{"./core", "testing", "testing/synctest"}},
		{Path: "./core/dynamo", Imports: []string{"./core", deep}, TestImports: []string{"./leaf"}},
	}
}

func TestCheckImports(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		pkg     archtest.Package
		problem string // part of the only message; empty for none
	}{
		{"nothing", archtest.Package{Path: "./leaf"}, ""},
		{"unknown package below a known one", archtest.Package{Path: "./core/new"}, "./core/new is in no row"},
		{"unknown package", archtest.Package{Path: "./new"}, "./new is in no row"},
		{"root is a package like others", archtest.Package{Path: "."}, ". is in no row"},
		{
			"upward import",
			archtest.Package{Path: "./leaf", Imports: []string{"./core"}},
			"./leaf imports ./core, which the import table does not allow",
		},
		{
			"module that is not in the row",
			archtest.Package{Path: "./core", Imports: []string{"example.com/events/deeper"}},
			"./core imports example.com/events/deeper",
		},
		{
			"package below one that is allowed",
			archtest.Package{Path: "./core/dynamo", Imports: []string{deep + "/er"}},
			"./core/dynamo imports example.com/deep/er",
		},
		{
			"linked by way of another",
			archtest.Package{Path: "./core", Deps: []string{sqs + "/types"}},
			"./core links " + sqs + "/types",
		},
		{
			"ours linked into a leaf",
			archtest.Package{Path: "./leaf", Deps: []string{"./core"}},
			"./leaf links ./core",
		},
		{
			"testing in code",
			archtest.Package{Path: "./core", Imports: []string{"testing/fstest"}},
			"./core imports testing/fstest outside of its tests",
		},
		{
			"tests have the kit, their own package and the test packages",
			archtest.Package{Path: "./leaf", TestImports: []string{
				"./leaf", "./core/suitetest", "testing", "github.com/google/go-cmp/cmp", sqs,
			}},
			"",
		},
		{
			"tests have what their row adds",
			archtest.Package{Path: "./core/dynamo", TestImports: []string{"./leaf"}},
			"",
		},
		{
			"tests do not reach up",
			archtest.Package{Path: "./leaf", TestImports: []string{"./core"}},
			"tests of ./leaf import ./core",
		},
		{
			"assertion library",
			archtest.Package{Path: "./leaf", TestImports: []string{"github.com/stretchr/testify/require"}},
			"tests of ./leaf import github.com/stretchr/testify/require",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			// Beside the clean packages, so that nothing in the table is unused.
			problems := archtest.CheckImports(rows(), append(clean(), test.pkg))
			wantOne(t, slices.DeleteFunc(problems, isUnused), test.problem)
		})
	}
}

func isUnused(problem string) bool { return strings.Contains(problem, "which is not imported") }

func TestTheImportTableHasNothingElse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		row     archtest.Row
		pkg     archtest.Package
		problem string
	}{
		{
			"row without a package", archtest.Row{Path: "gone"}, archtest.Package{Path: "./leaf"},
			`row "gone" of the import table is for no package`,
		},
		{
			"second row", archtest.Row{Path: "leaf"}, archtest.Package{Path: "./leaf"},
			`the import table has two rows for "leaf"`,
		},
		{
			"upward row",
			archtest.Row{Path: "a", Ours: []string{"z"}}, archtest.Package{Path: "./a", Imports: []string{"./z"}},
			`row "a" of the import table allows "z", which does not stand above it`,
		},
		{
			"package that is not imported",
			archtest.Row{Path: "a", Ours: []string{"core"}}, archtest.Package{Path: "./a"},
			`row "a" of the import table allows "core", which is not imported`,
		},
		{
			"module that is not imported",
			archtest.Row{Path: "a", Third: []string{deep}}, archtest.Package{Path: "./a", Imports: []string{"errors"}},
			`row "a" of the import table allows "example.com/deep", which is not imported`,
		},
		{
			"package that no test imports",
			archtest.Row{Path: "a", Tests: []string{"core"}}, archtest.Package{Path: "./a"},
			`row "a" of the import table allows "core", which is not imported`,
		},
		{
			"pattern",
			archtest.Row{Path: "a", Third: []string{deep + "/..."}}, archtest.Package{Path: "./a"},
			`row "a" of the import table allows "example.com/deep/...", which is not imported`,
		},
		{
			"test package that tests import all the same",
			archtest.Row{Path: "a"}, archtest.Package{Path: "./a", TestImports: []string{"./core/suitetest"}}, "",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wantOne(t, archtest.CheckImports(append(rows(), test.row), append(clean(), test.pkg)), test.problem)
		})
	}
}

// wantOne checks for one problem that contains want, or for none if want is empty.
func wantOne(t *testing.T, problems []string, want string) {
	t.Helper()
	switch {
	case want == "" && len(problems) > 0:
		t.Errorf("problems %q, want none", problems)
	case want != "" && (len(problems) != 1 || !strings.Contains(problems[0], want)):
		t.Errorf("problems %q, want one with %q", problems, want)
	}
}

// wantAll checks that the problems begin with these words, in order.
func wantAll(t *testing.T, problems []string, begins ...string) {
	t.Helper()
	if !slices.EqualFunc(problems, begins, strings.HasPrefix) {
		t.Errorf("problems %q, want %q", problems, begins)
	}
}
