package stack

import (
	"encoding/json"
	"slices"
	"strings"
)

// widget has the members of a dashboard widget that are checked.
type widget struct {
	Type                string
	X, Y, Width, Height int
	Properties          struct {
		Title, Query, Markdown, Region, Stat string
		Period                               int
		Metrics                              [][]any
		Alarms                               []string
		Annotations                          struct{ Horizontal []struct{ Value float64 } }
	}
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
	i.charts(widgets)
	i.marks(widgets)
	i.labels(widgets)
	i.logTables(widgets)
	for _, r := range i.existing(kindAlarm) {
		if !slices.ContainsFunc(widgets, func(w widget) bool {
			return slices.Contains(w.Properties.Alarms, r.id+".Arn")
		}) {
			i.report("the dashboard does not show alarm %s", r.id)
		}
	}
}

// layout checks that widgets are on the grid, and that dead letters come first.
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
		for _, l := range w.lines() {
			q, _ := i.s.Queue(l.figure[3])
			if w.Y == 0 && l.expression == "" && !slices.Contains(dead, q.LogicalID) {
				i.report("the dashboard's first row shows %v, want dead letters", l.figure)
			}
		}
	}
}

// logFields are the members of the log line of a dead letter that a query may
// show, and @timestamp. A test of the runbook checks that real log lines have
// them.
var logFields = []string{
	"@timestamp", "queue", "reason", "class", "rule", "attempt", "key", "error", "excerpt", "stack", "messageId",
	"deadLetterId",
}

// The log queries, without their sources and fields.
const (
	newestQuery  = " | filter message = 'dead-lettered' | sort @timestamp desc | limit 20 | display "
	reasonsQuery = " | filter message = 'dead-lettered' | stats count(*) as jobs, max(@timestamp) as newest by queue, " +
		"reason, class | sort jobs desc"
)

// logTables checks that each function has a table of its reasons, and one of
// its dead letters with the fields that an operator needs.
func (i *inspection) logTables(widgets []widget) {
	shown := map[string][]string{} // log groups, by the query on them
	for _, w := range widgets {
		if w.Type != "log" {
			continue
		}
		sources, query, _ := strings.Cut(w.Properties.Query, " | filter ")
		query = " | filter " + query
		if fields, ok := strings.CutPrefix(query, newestQuery); ok {
			query = newestQuery
			i.expect("the fields of newest dead letters", strings.Split(fields, ", "), "["+strings.Join(logFields, " ")+"]")
		}
		if query != newestQuery && query != reasonsQuery {
			i.report("widget %q of the dashboard has a query of its own: %s", w.Properties.Title, query)
		}
		shown[query] = append(shown[query], strings.Split(sources, " | ")...)
	}
	for _, f := range i.s.Functions {
		source := "SOURCE '" + textOf(at(i.properties(f.LogicalID), "LoggingConfig", "LogGroup")) + "'"
		if !slices.Contains(shown[newestQuery], source) || !slices.Contains(shown[reasonsQuery], source) {
			i.report("the dashboard does not show dead letters from the log of %s", f.Name)
		}
	}
}
