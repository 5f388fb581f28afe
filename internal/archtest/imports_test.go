package archtest_test

import (
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/archtest"
)

const sqs = "github.com/aws/aws-sdk-go-v2/service/sqs"

// rooms is a table as small as the rules allow.
func rooms() []archtest.Room {
	return []archtest.Room{
		{Path: "leaf", Never: []string{"./...", "third-party/..."}},
		{Path: "core", Ours: []string{"leaf"}, Third: []string{"example.com/events"}, Never: []string{sqs + "/..."}},
		{Path: "core/...", Ours: []string{"core"}, Third: []string{"example.com/deep/..."}, Tests: []string{"leaf"}},
	}
}

// clean fills the rows that a case is not about.
func clean() []archtest.Package {
	return []archtest.Package{
		{Path: "./leaf", Imports: []string{"errors"}, Deps: []string{"errors", "internal/abi", "vendor/golang.org/x/net"}},
		{Path: "./core", Imports: []string{"./leaf", "example.com/events"}, Deps: []string{"./leaf", "example.com/events"}},
		{Path: "./core/suitetest", Imports: []string{"./core", "testing", "testing/synctest"}},
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
			"below a pattern",
			archtest.Package{Path: "./core/dynamo", Imports: []string{"example.com/deep", "example.com/deep/er"}},
			"",
		},
		{
			"beside a pattern",
			archtest.Package{Path: "./core/dynamo", Imports: []string{"example.com/deeper"}},
			"./core/dynamo imports example.com/deeper",
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
			wantOne(t, archtest.CheckImports(rooms(), append(clean(), test.pkg)), test.problem)
		})
	}
}

func TestCheckImportsFindsRowsWithoutPackages(t *testing.T) {
	t.Parallel()
	table := append(rooms(), archtest.Room{Path: "gone/..."})
	wantOne(t, archtest.CheckImports(table, clean()), `row "gone/..." of the import table fits no package`)
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
