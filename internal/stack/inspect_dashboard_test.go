package stack

import (
	"encoding/json"
	"slices"
	"strings"
)

// widget is what is read of a dashboard's.
type widget struct {
	Type                string
	X, Y, Width, Height int
	Properties          struct {
		Title, Query, Markdown, Region, Stat string
		Metrics                              [][]any
		Alarms                               []string
	}
}

// figures are the metrics of a widget, by namespace, name, dimension and value.
func (w widget) figures() [][4]string {
	var all [][4]string
	for _, m := range w.Properties.Metrics {
		var f [4]string
		if len(m) < len(f) {
			continue // an expression
		}
		for i := range f {
			f[i] = textOf(m[i])
		}
		all = append(all, f)
	}
	return all
}

func (i *inspection) dashboard() {
	var widgets []widget
	for _, d := range i.existing("AWS::CloudWatch::Dashboard") {
		var body struct{ Widgets []widget }
		text := textOf(i.properties(d.id)["DashboardBody"])
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			i.report("the dashboard is not JSON: %v", err)
			return
		}
		i.layout(body.Widgets)
		widgets = append(widgets, body.Widgets...)
	}
	i.figures(widgets)
	i.logTables(widgets)
	for _, r := range i.existing(kindAlarm) {
		if !slices.ContainsFunc(widgets, func(w widget) bool {
			return slices.Contains(w.Properties.Alarms, r.id+".Arn")
		}) {
			i.report("the dashboard does not show alarm %s", r.id)
		}
	}
}

// layout demands that widgets are on the grid, and that dead letters come first.
func (i *inspection) layout(widgets []widget) {
	var dead []string
	for _, q := range i.s.Queues {
		dead = append(dead, q.DeadLetterQueue)
	}
	for n, w := range widgets {
		if w.Width < 1 || w.Height < 1 || w.X+w.Width > 24 {
			i.report("widget %d of the dashboard is off the grid", n)
		}
		if w.Type != "text" && w.Type != "alarm" && w.Properties.Region != i.t.options.Region {
			i.report("widget %q of the dashboard has region %q", w.Properties.Title, w.Properties.Region)
		}
		for _, f := range w.figures() {
			q, _ := i.s.Queue(f[3])
			if w.Y == 0 && !slices.Contains(dead, q.LogicalID) {
				i.report("the dashboard's first row shows %v, want dead letters", f)
			}
		}
	}
}

// ours are the metrics that functions write.
var ours = []string{
	"Done", "Duplicate", "Retry", "Busy", "Unrecorded", "Dead", "Unrun", "Crash", "DeadLetterSent", "DeadLetterFailed",
	"SettleFailed", "TimeLeft", "BreakerOpen",
}

// figures demands each metric that belongs on the dashboard, and no other.
func (i *inspection) figures(widgets []widget) {
	want := map[[4]string]bool{}
	need := func(namespace, dimension, value string, names ...string) {
		for _, name := range names {
			want[[4]string{namespace, name, dimension, value}] = false
		}
	}
	for _, f := range i.s.Functions {
		source, _ := i.s.Queue(f.Events[0].Queue)
		dead, _ := i.s.Queue(source.DeadLetterQueue)
		need("AWS/SQS", "QueueName", dead.Name, visible, flying, oldest)
		need("AWS/SQS", "QueueName", source.Name, visible, flying, oldest, "NumberOfMessagesSent", "NumberOfMessagesDeleted")
		need("AWS/Lambda", "FunctionName", f.Name, "Invocations", "Errors", "Throttles", "Duration")
		need("AWS/Lambda", "EventSourceMappingUUID", f.LogicalID+f.Events[0].Name,
			"PolledEventCount", "InvokedEventCount", "FailedInvokeEventCount", "DeletedEventCount")
		need(i.parameter("MetricsNamespace"), "FunctionName", f.Name, ours...)
		i.searches(widgets, f)
	}
	for _, w := range widgets {
		for _, f := range w.figures() {
			if _, known := want[f]; !known {
				i.report("the dashboard shows %v, which nothing of this stack writes", f)
				continue
			}
			want[f] = true
		}
	}
	for f, shown := range want {
		if !shown {
			i.report("the dashboard does not show %v", f)
		}
	}
}

// searches demands the metrics by reason, which only a search can name: they are
// called by outcome and reason.
func (i *inspection) searches(widgets []widget, f Function) {
	for name, others := range map[string]string{
		"Dead": `("Dead" OR "DeadLetterSent" OR "DeadLetterFailed")`, "Retry": `"Retry"`,
	} {
		want := `SEARCH('{"` + i.parameter("MetricsNamespace") + `",FunctionName} MetricName=` + name +
			" NOT MetricName=" + others + ` FunctionName="` + f.Name + `"', 'Sum', 300)`
		if !slices.ContainsFunc(widgets, func(w widget) bool {
			return slices.ContainsFunc(w.Properties.Metrics, func(m []any) bool { return at(m[0], "expression") == want })
		}) {
			i.report("the dashboard does not show %s of %s by reason: %s", name, f.Name, want)
		}
	}
}

// logTables demands a table of each function's reasons, and one of its dead
// letters with what a person looks for.
func (i *inspection) logTables(widgets []widget) {
	wanted := []string{"@timestamp", "queue", "reason", "error", "excerpt", "stack", "messageId", "deadLetterId"}
	for _, f := range i.s.Functions {
		source := "SOURCE '" + textOf(at(i.properties(f.LogicalID), "LoggingConfig", "LogGroup")) + "'"
		reasons, newest := false, false
		for _, w := range widgets {
			query := w.Properties.Query
			if !strings.Contains(query, source) || !strings.Contains(query, "'dead-lettered'") {
				continue
			}
			reasons = reasons || strings.Contains(query, " by queue, reason")
			if _, shown, ok := strings.Cut(query, "| sort @timestamp desc | limit 20 | display "); ok {
				newest = true
				for _, field := range wanted {
					if !slices.Contains(strings.Split(shown, ", "), field) {
						i.report("the dashboard's newest dead letters lack %s", field)
					}
				}
			}
		}
		if !reasons || !newest {
			i.report("the dashboard does not show dead letters from the log of %s", f.Name)
		}
	}
}

// outputs demands what people need of the stack, command lines included.
func (i *inspection) outputs() {
	var values []string
	for _, e := range entries(member(i.root, "Outputs")) {
		text := i.t.text(member(e.value, "Value"), "output "+e.key.Value)
		if member(e.value, "Description") == nil {
			i.report("output %s has no description", e.key.Value)
		}
		values = append(values, text)
	}
	need := func(parts ...string) {
		if !slices.ContainsFunc(values, func(value string) bool {
			return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(value, part) })
		}) {
			i.report("no output has %q", parts)
		}
	}
	need("/cloudwatch/home?region=" + i.t.options.Region + "#dashboards/dashboard/")
	for _, f := range i.s.Functions {
		source, _ := i.s.Queue(f.Events[0].Queue)
		dead, _ := i.s.Queue(source.DeadLetterQueue)
		need(source.URL)
		need("aws sqs receive-message", "--queue-url "+dead.URL+" ")
		need("aws sqs start-message-move-task", "--source-arn "+dead.ARN+" ", "--destination-arn "+source.ARN+" ")
		need("aws lambda update-event-source-mapping", "--uuid "+f.LogicalID+f.Events[0].Name, "--no-enabled")
		need("sqsafe ledger list", "--table "+f.Environment["SQSAFE_TABLE"])
	}
}
