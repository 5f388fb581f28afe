package stack

import (
	"fmt"
	"regexp"
	"strings"
)

// line is one row of a widget's metrics: a metric or an expression.
type line struct {
	figure      [4]string // empty for an expression
	expression  string
	label, stat string
}

// id matches the ids of rows in expressions.
var id = regexp.MustCompile(`\b[a-z]+[0-9]+\b`)

// lines returns the rows of a widget. In expressions, ids are replaced by their
// metrics.
func (w widget) lines() []line {
	var all []line
	byID := map[string]string{}
	for _, m := range w.Properties.Metrics {
		l := line{stat: w.Properties.Stat}
		if len(m) >= len(l.figure) {
			for i := range l.figure {
				l.figure[i] = textOf(m[i])
			}
		}
		options := m[len(m)-1]
		l.expression, l.label = textOf(at(options, "expression")), textOf(at(options, "label"))
		if stat := textOf(at(options, "stat")); stat != "" {
			l.stat = stat
		}
		if name := textOf(at(options, "id")); name != "" {
			byID[name] = "[" + l.figure[1] + " " + l.figure[3] + " " + l.stat + "]"
		}
		all = append(all, l)
	}
	for i := range all {
		if strings.HasPrefix(all[i].expression, "SEARCH(") {
			continue
		}
		all[i].expression = id.ReplaceAllStringFunc(all[i].expression, func(name string) string { return byID[name] })
	}
	return all
}

// String describes the row: a metric with its statistic, or an expression.
func (l line) String() string {
	if l.expression != "" {
		return l.expression
	}
	return fmt.Sprint(l.figure[0], " ", l.figure[2], " ", l.figure[1], " ", l.figure[3], " ", l.stat)
}

// chart is the expected content of a widget for one function: its period and
// its rows as texts.
type chart struct {
	period int
	lines  []string
}

// outcomesOf is the start of titles that end with the name of a function.
const outcomesOf = "Outcomes of "

// chartsOf returns the charts of a function by title.
func (i *inspection) chartsOf(f Function) map[string]chart {
	source, _ := i.s.Queue(f.Events[0].Queue)
	dead, _ := i.s.Queue(source.DeadLetterQueue)
	each := func(format string, names ...string) (all []string) {
		for _, name := range names {
			all = append(all, strings.Replace(format, "*", name, 1))
		}
		return all
	}
	namespace := i.parameter("MetricsNamespace")
	ofDead, ofSource := "AWS/SQS QueueName * "+dead.Name+" ", "AWS/SQS QueueName * "+source.Name+" "
	ofFunction, ours := "AWS/Lambda FunctionName * "+f.Name+" ", namespace+" FunctionName * "+f.Name+" "
	ofMapping := "AWS/Lambda EventSourceMappingUUID * " + f.LogicalID + f.Events[0].Name + " Sum"
	depth := "[" + visible + " " + dead.Name + " Maximum] + FILL([" + flying + " " + dead.Name + " Maximum],0)"
	depths := each(ofDead+"Maximum", visible, flying)
	rate := func(metric string) string {
		sum := "[" + metric + " " + source.Name + " Sum]"
		return sum + "/PERIOD(" + sum + ")"
	}
	byReason := func(name, others string) chart {
		return chart{300, []string{`SEARCH('{"` + namespace + `",FunctionName} MetricName=` + name +
			" NOT MetricName=" + others + ` FunctionName="` + f.Name + `"', 'Sum', 300)`}}
	}
	const sent, deleted = "NumberOfMessagesSent", "NumberOfMessagesDeleted"
	rates := []string{rate(sent), rate(deleted)}
	duration := "AWS/Lambda FunctionName Duration " + f.Name + " *"
	return map[string]chart{
		"Dead letters: how many":                      {60, append([]string{depth}, depths...)},
		"Dead letters: how many more":                 {60, append([]string{"DIFF(" + depth + ")"}, depths...)},
		"Dead letters: age of the oldest, in seconds": {300, each(ofDead+"Maximum", oldest)},
		"Dead letters by reason":                      byReason("Dead", `("Dead" OR "DeadLetterSent" OR "DeadLetterFailed")`),
		"Retries by reason":                           byReason("Retry", `"Retry"`),
		"Backlog":                                     {60, each(ofSource+"Maximum", visible, flying)},
		"Sent and finished, a second":                 {60, append(each(ofSource+"Sum", sent, deleted), rates...)},
		"Age of the oldest job, in seconds":           {60, each(ofSource+"Maximum", oldest)},
		"Invocations, errors, throttles":              {60, each(ofFunction+"Sum", "Invocations", "Errors", "Throttles")},
		"Duration of a batch, in milliseconds":        {60, each(duration, "p50", "p99", "Maximum")},
		"Messages of the event source mapping": {60, each(ofMapping,
			"PolledEventCount", "InvokedEventCount", "FailedInvokeEventCount", "DeletedEventCount")},
		outcomesOf: {60, each(ours+"Sum", "Done", "Duplicate", "Retry", "Busy", "Deferred", "Unrecorded", "Dead", "Crash")},
		"What should not happen, and dead letters sent": {60, each(ours+"Sum",
			"Crash", "Unrecorded", "SettleFailed", "DeadLetterSent", "DeadLetterFailed", "BreakerOpen")},
		"Time left at the end of a batch, in milliseconds": {60, each(ours+"Minimum", "TimeLeft")},
	}
}

// charts checks that the charts have the rows of each function, and no others.
func (i *inspection) charts(widgets []widget) {
	missing := map[[2]string]bool{}
	periods := map[string]int{}
	for _, f := range i.s.Functions {
		for title, c := range i.chartsOf(f) {
			periods[title] = c.period
			for _, l := range c.lines {
				missing[[2]string{title, l}] = true
			}
		}
	}
	for _, w := range widgets {
		title := w.Properties.Title
		if strings.HasPrefix(title, outcomesOf) {
			title = outcomesOf
		}
		if w.Type == "metric" && w.Properties.Period != periods[title] {
			i.report("widget %q of the dashboard has a period of %d s, want %d", title, w.Properties.Period, periods[title])
		}
		for _, l := range w.lines() {
			key := [2]string{title, l.String()}
			if _, ok := missing[key]; !ok {
				i.report("widget %q of the dashboard shows %s, which is none of its", key[0], key[1])
			}
			missing[key] = false
		}
	}
	for key, still := range missing {
		if still {
			i.report("widget %q of the dashboard lacks %s", key[0], key[1])
		}
	}
}

// marks checks the horizontal lines that show the thresholds of alarms.
func (i *inspection) marks(widgets []widget) {
	for title, want := range map[string]string{
		"Dead letters: how many more":                 i.parameter("FloodThreshold"),
		"Dead letters: age of the oldest, in seconds": i.parameter("DeadLetterAgeThreshold"),
		"Age of the oldest job, in seconds":           i.parameter("QueueAgeThreshold"),
		"Duration of a batch, in milliseconds":        i.parameter("FunctionTimeout") + "000",
	} {
		for _, w := range widgets {
			if w.Properties.Title == title {
				i.expect("the mark of "+title, w.Properties.Annotations.Horizontal, "[{"+want+"}]")
			}
		}
	}
}
