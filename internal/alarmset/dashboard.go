package alarmset

import (
	"fmt"
	"strings"
)

// Dashboard is the resource of a dashboard of several units, dead letters first. It
// shows the alarms that exist says there are. The lines end with \n and are indented
// by two spaces.
func Dashboard(units []Unit, exists func(alarm string) bool) string {
	b := board{units: units}
	b.text()
	b.alarms(exists)
	b.deadLetters()
	b.queues()
	b.consumers()
	b.logs()
	var out strings.Builder
	out.WriteString("  Dashboard:\n    Type: AWS::CloudWatch::Dashboard\n    Properties:\n      DashboardBody: !Sub >-\n" +
		`        {"start": "-PT3H", "periodOverride": "inherit", "widgets": [` + "\n")
	for i, w := range b.widgets {
		end := ","
		if i == len(b.widgets)-1 {
			end = "]}"
		}
		out.WriteString(folded("        ", w+end))
	}
	return out.String()
}

// board is a dashboard in the making. A row has a height of 6 and up to three
// widgets of a third of the width of 24.
type board struct {
	units   []Unit
	widgets []string
	x, y    int
}

const (
	third      = 8
	height     = 6
	boardWidth = 24
)

// add adds a widget at the next place.
func (b *board) add(kind string, w int, properties string) {
	if b.x+w > boardWidth {
		b.x, b.y = 0, b.y+height
	}
	head := fmt.Sprintf(`{"type": %q, "x": %d, "y": %d, "width": %d, "height": %d, "properties": {`,
		kind, b.x, b.y, w, height)
	b.widgets = append(b.widgets, head+properties+"}}")
	if b.x += w; b.x >= boardWidth {
		b.x, b.y = 0, b.y+height
	}
}

// row is one series of a graph: a metric, or an expression.
type row struct {
	namespace, metric, dimension, value string
	expression                          string
	options                             string // the members of its options
}

// rowsText writes rows. "..." stands for all of the row before but the value, and
// "." for a member of it.
func rowsText(rows []row) string {
	var all []string
	var last row
	for _, r := range rows {
		options := ""
		if r.options != "" {
			options = ", {" + r.options + "}"
		}
		switch {
		case r.expression != "":
			all = append(all, `[{"expression": "`+r.expression+`", `+r.options+"}]")
			continue
		case r.namespace == last.namespace && r.dimension == last.dimension && r.metric == last.metric:
			all = append(all, fmt.Sprintf(`["...", %q%s]`, r.value, options))
		case r.namespace == last.namespace && r.dimension == last.dimension:
			all = append(all, fmt.Sprintf(`[".", %q, ".", %q%s]`, r.metric, r.value, options))
		default:
			all = append(all, fmt.Sprintf(`[%q, %q, %q, %q%s]`, r.namespace, r.metric, r.dimension, r.value, options))
		}
		last = r
	}
	return strings.Join(all, ", ")
}

// chart is a graph.
func (b *board) chart(title, statistic string, period int, rows []row, more ...string) {
	properties := []string{
		fmt.Sprintf(`"title": %s, "stat": %q`, quoted(title), statistic),
		fmt.Sprintf(`"period": %d, "region": "${AWS::Region}"`, period),
	}
	properties = append(properties, more...)
	b.add("metric", third, strings.Join(append(properties, `"metrics": [`+rowsText(rows)+"]"), ", "))
}

// each gives rows of metrics, for all units by turns.
func (b *board) each(of func(u Unit) row, metrics ...string) []row {
	var all []row
	for _, m := range metrics {
		for _, u := range b.units {
			r := of(u)
			r.metric, r.options = m, fmt.Sprintf(`"label": %q`, u.name())
			if len(metrics) > 1 {
				r.options = fmt.Sprintf(`"label": "%s %s"`, u.name(), short(m))
			}
			if r.value != "" {
				all = append(all, r)
			}
		}
	}
	return all
}

// short is a metric in a label.
func short(metric string) string {
	return strings.ToLower(strings.NewReplacer("ApproximateNumberOfMessages", "", "NumberOfMessages", "").Replace(metric))
}

// computed gives an expression of each unit over metrics that are not shown. In the
// expression, # stands for the number of the unit; the ids are those letters.
func (b *board) computed(expression, ids string, of func(u Unit) row, metrics ...string) []row {
	var all []row
	for i, u := range b.units {
		all = append(all, row{
			expression: strings.ReplaceAll(expression, "#", fmt.Sprint(i+1)), options: fmt.Sprintf(`"label": %q`, u.name()),
		})
	}
	for k, m := range metrics {
		for i, u := range b.units {
			r := of(u)
			r.metric, r.options = m, fmt.Sprintf(`"id": "%c%d", "visible": false`, ids[k], i+1)
			all = append(all, r)
		}
	}
	return all
}

func ofDead(u Unit) row {
	return row{namespace: sqs, dimension: "QueueName", value: "${" + u.Dead + ".QueueName}"}
}

func ofSource(u Unit) row {
	return row{namespace: sqs, dimension: "QueueName", value: "${" + u.Source + ".QueueName}"}
}

func ofConsumer(u Unit) row {
	return row{namespace: substituted(u.Namespace), dimension: "FunctionName", value: substituted(u.own())}
}

func ofLambda(u Unit) row {
	if u.Function == "" {
		return row{}
	}
	return row{namespace: lambda, dimension: "FunctionName", value: substituted(u.function())}
}

// name is a unit in the label of a series.
func (u Unit) name() string { return strings.ToLower(u.Prefix) }

// substituted is a text as Fn::Sub takes it.
func substituted(text string) string {
	for _, function := range []string{"!Ref ", "!GetAtt "} {
		if name, ok := strings.CutPrefix(text, function); ok {
			return "${" + name + "}"
		}
	}
	return text
}

func (b *board) text() {
	lines := []string{
		"**Made by the template of the stack ${AWS::StackName}: change it there.** What to do: [runbook](${RunbookUrl}).",
		"", "| | dead letters | source |", "|---|---|---|",
	}
	for _, u := range b.units {
		lines = append(lines, fmt.Sprintf("| %s | ${%s} | ${%s} |", u.name(), u.Dead, u.Source))
	}
	b.add("text", boardWidth/2, `"markdown": `+quoted(strings.Join(lines, "\n")))
}

func (b *board) alarms(exists func(alarm string) bool) {
	var all []string
	for _, u := range b.units {
		for _, a := range Alarms(u, nil, Basic, Full, Traffic, Rollback) {
			if a.Urgency == Now && exists(a.Name) {
				all = append(all, `"${`+a.Name+`.Arn}"`)
			}
		}
	}
	b.add("alarm", boardWidth/2, `"title": "Alarms that wake somebody", "alarms": [`+strings.Join(all, ", ")+"]")
}

func (b *board) deadLetters() {
	b.chart("Dead letters: how many", "Maximum", 60, b.computed("v# + FILL(n#,0)", "vn", ofDead, visible, flying))
	b.chart("Dead letters sent", "Sum", 60, b.each(ofConsumer, "DeadLetterSent"),
		`"annotations": {"horizontal": [{"label": "flood", "value": ${FloodThreshold}}]}`)
	b.chart("Dead letters: age of the oldest, in seconds", "Maximum", 300, b.each(ofDead, oldest))
	b.reasons("Dead letters by reason", "Dead", `(\"Dead\" OR \"DeadLetterSent\" OR \"DeadLetterFailed\")`)
	b.reasons("Retries by reason", "Retry", `\"Retry\"`)
	b.chart("Unclassified share of failed runs, in percent", "Sum", 300,
		b.computed("100*u#/SUM([u#,r#,p#])", "urp", ofConsumer, "Unclassified", "Retryable", "Permanent"))
}

// reasons shows metrics by reason: the part of a name after the dot, as in
// Dead.validation.
func (b *board) reasons(title, name, others string) {
	var names []string
	for _, u := range b.units {
		names = append(names, `\"`+ofConsumer(u).value+`\"`)
	}
	search := fmt.Sprintf(`SEARCH('{\"%s\",FunctionName} MetricName=%s NOT MetricName=%s FunctionName=(%s)', 'Sum', 300)`,
		ofConsumer(b.units[0]).namespace, name, others, strings.Join(names, " OR "))
	label := `"id": "s", "label": "${!PROP('Dim.FunctionName')} ${!PROP('MetricName')}"`
	rows := []row{{expression: search, options: label}}
	b.chart(title, "Sum", 300, rows)
}

func (b *board) queues() {
	b.chart("Backlog", "Maximum", 60, b.each(ofSource, visible, flying))
	b.chart("Age of the oldest job, in seconds", "Maximum", 60, b.each(ofSource, oldest),
		`"annotations": {"horizontal": [{"label": "alarm", "value": ${QueueAgeThreshold}}]}`)
}

func (b *board) consumers() {
	b.chart("Errors and throttles of the function", "Sum", 60, b.each(ofLambda, "Errors", "Throttles"))
	b.chart("Time left at the end of a batch, in milliseconds", "Minimum", 60, b.each(ofConsumer, "TimeLeft"))
	b.chart("Times of jobs, 99 %, in milliseconds", "p99", 60, b.each(ofConsumer, "RunTime", "OutcomeTime", "WaitingAge"))
	b.chart("What should not happen", "Sum", 60,
		b.each(ofConsumer, "Crash", "Unrecorded", "SettleFailed", "DeadLetterFailed", "BreakerOpen"))
	for _, u := range b.units {
		var rows []row
		for _, name := range []string{"Done", "Duplicate", "Retry", "Busy", "Deferred", "Unrecorded", "Dead", "Crash"} {
			r := ofConsumer(u)
			r.metric = name
			rows = append(rows, r)
		}
		b.chart("Outcomes of "+u.name(), "Sum", 60, rows, `"stacked": true`)
	}
}

// logs are tables of dead letters from the logs of the functions.
func (b *board) logs() {
	var sources []string
	for _, u := range b.units {
		if u.LogGroup != "" {
			sources = append(sources, "SOURCE '"+u.LogGroup+"'")
		}
	}
	if len(sources) == 0 {
		return
	}
	from := strings.Join(sources, " | ") + " | filter message = 'dead-lettered' | "
	for _, table := range []struct{ title, query string }{
		{"Newest dead letters; where the excerpt is empty: sqsafe dlq show", "sort @timestamp desc | limit 20 | display " +
			"@timestamp, queue, reason, class, rule, attempt, key, error, excerpt, stack, messageId, deadLetterId"},
		{"Reasons of dead letters", "stats count(*) as jobs, max(@timestamp) as newest by queue, reason, class | " +
			"sort jobs desc"},
	} {
		b.add("log", boardWidth/2, fmt.Sprintf(`"title": %s, "view": "table", "region": "${AWS::Region}", "query": %s`,
			quoted(table.title), quoted(from+table.query)))
	}
}
