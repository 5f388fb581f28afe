package runbook_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/alarmset"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// found returns the first group of each match, each once, in order.
func found(pattern, text string) []string {
	var all []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// alarmsOf are the alarms of a function and of a worker.
func alarmsOf() []alarmset.Alarm {
	sets := []alarmset.Set{alarmset.Basic, alarmset.Full, alarmset.Traffic, alarmset.Rollback}
	function := alarmset.Unit{Prefix: "Charge", Function: "ChargeFunction", Alias: "live"}
	worker := alarmset.Unit{Prefix: "Charge"}
	return append(alarmset.Alarms(function, nil, sets...), alarmset.Alarms(worker, nil, sets...)...)
}

// TestRunbookListsEveryAlarm checks that the first table lists exactly the alarms that
// there are, and that their descriptions lead to headings.
func TestRunbookListsEveryAlarm(t *testing.T) {
	t.Parallel()
	text := read(t, guide)
	table, _, _ := strings.Cut(text, "## Set up the shell")
	var want []string
	for _, a := range alarmsOf() {
		want = append(want, strings.TrimSuffix(strings.TrimPrefix(a.Name, "Charge"), "Alarm"))
		_, link, _ := strings.Cut(a.Description, "${RunbookUrl}#")
		if !slices.ContainsFunc(found(`(?m)^#+ (.+)$`, text), func(h string) bool { return anchor(h) == link }) {
			t.Errorf("the description of %s leads to #%s, which is no heading", a.Name, link)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	if d := cmp.Diff(want, found("(?m)^\\| `(\\w+)` \\|", table)); d != "" {
		t.Errorf("alarms (-definitions +runbook):\n%s", d)
	}
}

// TestNamesExistInTheStack checks that the template has the names that the runbook
// uses.
func TestNamesExistInTheStack(t *testing.T) {
	t.Parallel()
	template, text := read(t, "../../template.yaml"), read(t, guide)+read(t, appendix)
	_, outputs, ok := strings.Cut(template, "\nOutputs:\n")
	if !ok {
		t.Fatal("the template has no outputs")
	}
	outputs = "\n" + outputs
	keys, ids := found(`\$\(output "?\$?1?(\w+)"?\)`, text), found(`\$\(resource "\$\{FUNCTION\}(\w+)"`, text)
	if len(keys) == 0 || len(ids) == 0 {
		t.Errorf("the runbook asks for the outputs %v and the resources %v only", keys, ids)
	}
	for _, function := range []string{"Charge", "Notify", "Stock"} {
		for _, name := range keys {
			if !strings.Contains(outputs, "\n  "+function+name+": {") && !strings.Contains(outputs, "\n  "+name+": {") {
				t.Errorf("the template has no output %s of %s", name, function)
			}
		}
		for _, name := range ids {
			if name == "FunctionDeploymentGroup" { // made by SAM
				continue
			}
			if !strings.Contains(template, "\n  "+function+name+":") {
				t.Errorf("the template has no resource %s of %s", name, function)
			}
		}
		// SAM names the mapping after the function and its event.
		if !strings.Contains(template, "${"+function+"Function"+function+"}") {
			t.Errorf("the template knows no mapping %sFunction%[1]s", function)
		}
	}
}

// TestReasonsExist checks that the reasons in the runbook exist.
func TestReasonsExist(t *testing.T) {
	t.Parallel()
	var known []string
	for _, file := range []string{
		"fault/reason.go", "handler/outcome.go", "idem/answers.go", "idem/key.go", "internal/ledger/cancel.go",
	} {
		known = append(known, found(`Reason\w* *= "(\w+)"`, read(t, "../../"+file))...)
	}
	_, text, _ := strings.Cut(read(t, guide), "\n## Decide\n")
	table, _, _ := strings.Cut(text, "\n## ")
	var named []string
	for _, row := range found(`(?m)^\| ([^|]+) \|`, table) {
		named = append(named, found("`([a-z_]+)`", row)...)
	}
	for _, reason := range named {
		if !slices.Contains(known, reason) {
			t.Errorf("there is no reason %s", reason)
		}
	}
	if len(named) < 10 {
		t.Errorf("the table names %v only", named)
	}
}

// TestFirstPageIsShort checks that a person who was just paged has ten lines to read.
func TestFirstPageIsShort(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(read(t, guide), "# Runbook\n\n")
	page, _, ok := strings.Cut(text, "\n\n| the name of the alarm has |")
	if n := strings.Count(page, "\n") + 1; !ok || n > 10 {
		t.Errorf("the first page has %d lines, want up to 10:\n%s", n, page)
	}
}

// TestLinksHaveTargets checks the links of the runbook to its own headings, and to other
// files.
func TestLinksHaveTargets(t *testing.T) {
	t.Parallel()
	for _, path := range guides {
		linksOf(t, path)
	}
}

func linksOf(t *testing.T, path string) {
	t.Helper()
	text := read(t, path)
	var headings []string
	for _, heading := range found(`(?m)^##+ (.+)$`, text) {
		headings = append(headings, anchor(heading))
	}
	for _, link := range found(`\]\(([^)]+)\)`, text) {
		if name, ok := strings.CutPrefix(link, "#"); ok {
			if !slices.Contains(headings, name) {
				t.Errorf("%s: no heading for #%s; there are %v", path, name, headings)
			}
			continue
		}
		name, _, _ := strings.Cut(link, "#")
		if _, err := os.Stat("../../docs/" + name); err != nil {
			t.Errorf("link to %s: %v", link, err)
		}
	}
}

// anchor returns the anchor that GitHub generates for a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
