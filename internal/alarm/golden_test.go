package alarm_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/alarm"
)

const guide = "../../docs/alarms.md"

var (
	update = flag.Bool("update", false, "write the tables of docs/alarms.md anew")
	// writing keeps tests from writing the guide at the same time.
	writing sync.Mutex
)

// golden compares a table with the one that the guide has between two marks.
func golden(t *testing.T, name, table string) {
	t.Helper()
	writing.Lock()
	defer writing.Unlock()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), "<!-- begin "+name+" -->\n")
	old, after, closed := strings.Cut(rest, "<!-- end "+name+" -->")
	if !ok || !closed {
		t.Fatalf("%s has no marks for the table %s", guide, name)
	}
	table = "\n" + table + "\n"
	if *update {
		whole := before + "<!-- begin " + name + " -->\n" + table + "<!-- end " + name + " -->" + after
		if err := os.WriteFile(guide, []byte(whole), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(old, table); d != "" {
		t.Errorf("%s, table %s: if the change is meant, run the test with -update (-guide +alarms):\n%s", guide, name, d)
	}
}

// The table of definitions has the alarms of the first function.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	basic, most, all := readUnits(t, nil)[0], readUnits(t, map[string]string{"AlarmSet": "full"})[0], readUnits(t, full)[0]
	var table strings.Builder
	table.WriteString("| alarm | compares | with | datapoints | missing data | set |\n|---|---|---|---|---|---|\n")
	for _, role := range rolesOf(all) {
		set := "with `ExpectTraffic=true`"
		if _, ok := most.alarms[role]; ok {
			set = "full"
		}
		if _, ok := basic.alarms[role]; ok {
			set = "basic"
		}
		d := all.alarms[role]
		fmt.Fprintf(&table, "| %s | %s | %s %v | %s | %s | %s |\n",
			role, all.compared(d), operator(d), d.Threshold, counts(d), d.TreatMissingData, set)
	}
	golden(t, "definitions", table.String())
}

// rolesOf are the roles that a unit has alarms in, in the order of [roles].
func rolesOf(u unit) []string {
	var all []string
	for _, role := range roles {
		if _, ok := u.alarms[role]; ok {
			all = append(all, role)
		}
	}
	return all
}

// compared is the metric or the expression with its metrics.
func (u unit) compared(d alarm.Definition) string {
	var main, where string
	for _, q := range d.Queries {
		switch name := q.Statistic + " " + q.Metric.Name; {
		case q.Expression != "":
			main = "`" + q.Expression + "`"
		case q.ReturnData:
			main = name
		default:
			where += fmt.Sprintf(", %s = %s", q.ID, name)
		}
	}
	return strings.ReplaceAll(main+where, "|", `\|`) + " of the " + u.subject(d)
}

// subject is what the metrics of an alarm are about.
func (u unit) subject(d alarm.Definition) string {
	names := map[string]string{
		u.function: "function", u.mapping: "event source mapping", u.source.Name: "queue", u.dead.Name: "dead-letter queue",
	}
	for _, q := range d.Queries {
		for _, x := range q.Metric.Dimensions {
			return names[x.Value]
		}
	}
	return ""
}

func operator(d alarm.Definition) string {
	return map[string]string{
		"GreaterThanThreshold": ">", "GreaterThanOrEqualToThreshold": ">=",
		"LessThanThreshold": "<", "LessThanOrEqualToThreshold": "<=",
	}[d.ComparisonOperator]
}

func counts(d alarm.Definition) string {
	period := window(d) / time.Duration(d.EvaluationPeriods)
	needed := d.DatapointsToAlarm
	if needed == 0 {
		needed = d.EvaluationPeriods
	}
	return fmt.Sprintf("%d of %d, of %.0f min", needed, d.EvaluationPeriods, period.Minutes())
}

func TestCost(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| set | alarms a function | metrics a function | functions | metrics |\n|---|---|---|---|---|\n")
	for _, set := range []struct {
		name       string
		parameters map[string]string
	}{
		{"basic", nil}, {"full", map[string]string{"AlarmSet": "full"}}, {"full, with `ExpectTraffic=true`", full},
	} {
		units := readUnits(t, set.parameters)
		metrics := 0
		for _, d := range units[0].alarms {
			for _, q := range d.Queries {
				if q.Expression == "" {
					metrics++
				}
			}
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %d |\n",
			set.name, len(units[0].alarms), metrics, len(units), metrics*len(units))
	}
	golden(t, "cost", table.String())
}

// The guide has a part for each alarm, which leads on to the runbook.
func TestGuideHasEveryAlarm(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range roles {
		_, part, ok := strings.Cut(string(text), "\n### "+role+"\n")
		part, _, _ = strings.Cut(part, "\n#")
		if !ok || !strings.Contains(part, "First ") || !strings.Contains(part, "(RUNBOOK.md)") ||
			!strings.Contains(part, "not see") && !strings.Contains(part, "sees nothing") {
			t.Errorf("the part on %s must say what it does not see and what to do first, and link the runbook", role)
		}
	}
}
