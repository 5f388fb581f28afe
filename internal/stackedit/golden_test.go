package stackedit

import (
	"cmp"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/alarm"
	"github.com/sqsafe/sqsafe/internal/alarmset"
	"github.com/sqsafe/sqsafe/internal/stack"
)

// written are the templates that are output of this package, with a request.
var written = []string{"../../template.yaml", "../../docs/add-to-your-template.yaml"}

var whole = Request{Alarms: alarmset.Basic, Rollback: true, Dashboard: true}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// stripped is a template without all that this package adds.
func stripped(text string) string {
	names := []string{
		`\w+Alarm`, "Dashboard", "AlarmTopic", "AlarmSubscription", "AlarmSubscribers", "DashboardUrl", "HasOwnTopic",
		"HasOwnNotices", "HasSubscriber",
	}
	for _, p := range alarmset.Parameters() {
		names = append(names, p.Name)
	}
	text = regexp.MustCompile(`(?m)^  (?:`+strings.Join(names, "|")+`):.*\n(?:   .*\n)*`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?m)^Rules:\n(?: .*\n)*\n`).ReplaceAllString(text, "")
	return regexp.MustCompile(`(?m)^      DeploymentPreference:\n(?:        .*\n)*`).ReplaceAllString(text, "")
}

var update = flag.Bool("update", false, "write the additions of the repository's templates anew")

// TestTheRepositorysTemplatesAreWritten compares them with what is written into them
// without the additions.
func TestTheRepositorysTemplatesAreWritten(t *testing.T) {
	t.Parallel()
	for _, path := range written {
		want := read(t, path)
		base := stripped(want)
		if strings.Contains(base, "Alarm") && strings.Contains(base, "CloudWatch") || strings.Contains(base, "Rules:") {
			t.Errorf("%s: something is left of the additions", path)
		}
		got, err := Add(path, []byte(base), whole)
		if err != nil || got.Refused != nil {
			t.Fatal(err, got.Refused)
		}
		if *update {
			if err := os.WriteFile(path, got.Text, 0o600); err != nil {
				t.Fatal(err)
			}
		} else if d := gocmp.Diff(want, string(got.Text)); d != "" {
			t.Errorf("%s: if the change is meant, run the test with -update (-template +written):\n%s", path, d)
		}
	}
}

// The limit keeps the template small enough to read.
func TestTheTemplateOfThreeFunctionsIsSmall(t *testing.T) {
	t.Parallel()
	if n := strings.Count(read(t, written[0]), "\n"); n > 910 {
		t.Errorf("template.yaml has %d lines, want 910 at most", n)
	}
	for _, path := range written {
		for i, line := range strings.Split(read(t, path), "\n") {
			if len(line) > 120 {
				t.Errorf("%s:%d has %d columns", path, i+1, len(line))
			}
		}
	}
}

// TestTemplatesHaveTheDefinitions reads the alarms of the templates as CloudFormation
// would, and compares them with the definitions that the alarms of docs/alarms.md are
// computed from.
func TestTemplatesHaveTheDefinitions(t *testing.T) {
	t.Parallel()
	for _, path := range written {
		text := read(t, path)
		found, err := stack.ReadAlarms(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]alarm.Definition{}
		for _, a := range found {
			if len(a.Definition.OKActions) != 1 || !gocmp.Equal(a.Definition.OKActions, a.Definition.AlarmActions) {
				t.Errorf("%s tells of OK to %v, of ALARM to %v", a.LogicalID, a.Definition.OKActions, a.Definition.AlarmActions)
			}
			got[a.LogicalID] = bare(a.Definition)
		}
		parsed, err := parse(path, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		units, _ := parsed.functions()
		want := map[string]alarm.Definition{}
		for _, u := range units {
			u.Namespace = "sqsafe" // the parameter's default
			for _, a := range alarmset.Alarms(u, nil, alarmset.Basic, alarmset.Rollback) {
				want[a.Name] = bare(a.Definition)
			}
		}
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("%s (-definitions +template):\n%s", path, d)
		}
	}
}

// names are what the texts of definitions stand for in a template that is read.
var names = strings.NewReplacer(
	"!Ref ", "", "!GetAtt ", "", "!Sub ", "", "${", "", "}", "", ".QueueName", "",
)

// fifo are the names that the template gives to queues.
var fifo = map[string]string{"StockQueue": "StockQueue.fifo", "StockDeadLetterQueue": "dead-StockQueue.fifo"}

// bare is a definition without its words and actions, with the names that
// dimensions have.
func bare(d alarm.Definition) alarm.Definition {
	d.Description, d.AlarmActions, d.OKActions = "", nil, nil
	if d.DatapointsToAlarm == 0 {
		d.DatapointsToAlarm = d.EvaluationPeriods
	}
	for i := range d.Queries {
		q := &d.Queries[i]
		q.Metric.Dimensions = append([]alarm.Dimension(nil), q.Metric.Dimensions...)
		if q.Expression == "" && len(d.Queries) == 1 {
			q.ID = "m"
		}
		for k := range q.Metric.Dimensions {
			value := names.Replace(q.Metric.Dimensions[k].Value)
			q.Metric.Dimensions[k].Value = cmp.Or(fifo[value], value)
		}
	}
	return d
}
