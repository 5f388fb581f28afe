package fault_test

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
)

// documented matches a row of docs/errors.md: rule, class, reason, what the
// rule matches, and what to do when it is wrong.
var documented = regexp.MustCompile(
	"(?m)^\\| `([a-z0-9_.]+)` \\| ([a-z]+) \\| `([a-z_]+)` \\| ([^|\n]+) \\| ([^|\n]+) \\|$")

func TestDocumentationHasTheTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, row := range documented.FindAllSubmatch(page, -1) {
		got = append(got, string(row[1])+" "+string(row[2])+" "+string(row[3]))
	}
	for _, rule := range append(fault.Rules(), fault.Rule{
		ID: fault.RuleUnknown, Class: unclassified, Reason: fault.ReasonUnclassified,
	}) {
		want = append(want, rule.ID+" "+rule.Class.String()+" "+rule.Reason)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/errors.md is not the table of the code (-code +page):\n%s", diff)
	}
}

// listed matches the codes of one database in a row.
var listed = regexp.MustCompile(`(SQLSTATE|MySQL|SQLite|SQL Server) ((?:[0-9][0-9P]*(?:, | and | to )?)+)`)

func TestDocumentationHasTheCodes(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, row := range documented.FindAllSubmatch(page, -1) {
		rule := string(row[1])
		for _, list := range listed.FindAllStringSubmatch(string(row[4]), -1) {
			for _, code := range regexp.MustCompile(`[0-9][0-9P]*`).FindAllString(list[2], -1) {
				checked++
				if got := fault.Classify(t.Context(), withCode(t, list[1], code)); got.Rule != rule {
					t.Errorf("%s %s stands in the row of %s and is decided by %s", list[1], code, rule, got.Rule)
				}
			}
		}
	}
	if checked < 60 {
		t.Errorf("only %d codes found on the page", checked)
	}
}

// withCode returns a database error with the code, or with a code of that
// class.
func withCode(t *testing.T, database, code string) error {
	t.Helper()
	if database == "SQLSTATE" {
		return stateError((code + "000")[:5])
	}
	n, err := strconv.Atoi(code)
	if err != nil {
		t.Fatal(err)
	}
	switch database {
	case "MySQL":
		return mySQL(uint16(n))
	case "SQLite":
		return &sqliteError{n}
	default:
		return serverError(n)
	}
}
