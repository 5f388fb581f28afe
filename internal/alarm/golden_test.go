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
	"github.com/sqsafe/sqsafe/internal/alarmset"
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

// The table of definitions has the alarms of a function and of a worker.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	function, worker := watchedBy(charge(), nil, all...), watchedBy(atWorker(), nil, all...)
	var table strings.Builder
	table.WriteString("| alarm | compares | with | datapoints | missing data | set | topic |\n" +
		"|---|---|---|---|---|---|---|\n")
	for _, u := range []unit{function, worker} {
		for _, role := range u.roles {
			if _, seen := function.alarms[role]; seen && u.Function == "" {
				continue
			}
			a := u.alarms[role]
			fmt.Fprintf(&table, "| %s | %s | %s %v | %s | %s | %s | %s |\n", role, u.compared(a.Definition),
				operator(a.Definition), a.Threshold, counts(a.Definition), a.TreatMissingData, u.set(a), topic(a))
		}
	}
	golden(t, "definitions", table.String())
}

func (u unit) set(a alarmset.Alarm) string {
	switch {
	case u.Function == "":
		return "worker"
	case a.Set == alarmset.Traffic:
		return "with `--expect-traffic`"
	case a.Set == alarmset.Rollback:
		return "with `--rollback`"
	}
	return string(a.Set)
}

func topic(a alarmset.Alarm) string {
	return map[alarmset.Urgency]string{alarmset.Now: "alarms", alarmset.Morning: "notices"}[a.Urgency]
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
	m := d.Queries[len(d.Queries)-1].Metric
	switch value := m.Dimensions[0].Value; {
	case m.Namespace == u.Namespace && u.Function == "":
		return "worker itself"
	case m.Namespace == u.Namespace && len(m.Dimensions) > 1:
		return "new version itself"
	case m.Namespace == u.Namespace:
		return "function itself"
	case len(m.Dimensions) > 1:
		return "new version"
	case strings.Contains(value, u.Dead):
		return "dead-letter queue"
	case strings.Contains(value, u.Source):
		return "queue"
	case strings.HasSuffix(value, u.Mapping):
		return "event source mapping"
	}
	return "function"
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
	table.WriteString("| set | alarms a function | metrics a function |\n|---|---|---|\n")
	for _, row := range []struct {
		name string
		sets []alarmset.Set
	}{
		{"`--alarms basic`", all[:1]}, {"`--alarms full`", all[:2]}, {"`--rollback` besides", all[3:]},
		{"`--expect-traffic` besides", all[2:3]},
	} {
		u, metrics := watchedBy(charge(), nil, row.sets...), 0
		for _, a := range u.alarms {
			for _, q := range a.Queries {
				if q.Expression == "" {
					metrics++
				}
			}
		}
		fmt.Fprintf(&table, "| %s | %d | %d |\n", row.name, len(u.alarms), metrics)
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
	roles := watchedBy(charge(), nil, all...).roles
	for _, role := range append(roles, "WorkerCrash", "WorkerMissing") {
		_, part, ok := strings.Cut(string(text), "\n### "+role+"\n")
		part, _, _ = strings.Cut(part, "\n#")
		if !ok || !strings.Contains(part, "First ") || !strings.Contains(part, "(RUNBOOK.md") ||
			!strings.Contains(part, "not see") && !strings.Contains(part, "sees nothing") {
			t.Errorf("the part on %s must say what it does not see and what to do first, and link the runbook", role)
		}
	}
}
