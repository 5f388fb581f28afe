package alarmset

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sqsafe/sqsafe/internal/alarm"
)

// Topics are the texts of the topics that alarms go to.
type Topics struct{ Alarms, Notices string }

func (t Topics) of(u Urgency) string {
	if u == Now {
		return t.Alarms
	}
	return t.Notices
}

// YAML is the alarm as a resource of a template: a flow mapping, since a block
// would be twice as long. The lines end with \n and are indented by two spaces.
func (a Alarm) YAML(topics Topics) string {
	items := []string{
		"AlarmDescription: !Sub " + quoted(a.Description),
		"AlarmActions: [" + topics.of(a.Urgency) + "]", "OKActions: [" + topics.of(a.Urgency) + "]",
	}
	items = append(items, a.watched()...)
	items = append(items,
		"ComparisonOperator: "+a.ComparisonOperator, "Threshold: "+either(a.ThresholdFrom, a.Threshold),
		"EvaluationPeriods: "+either(a.PeriodsFrom, float64(a.EvaluationPeriods)),
		"TreatMissingData: "+a.TreatMissingData,
	)
	if a.DatapointsToAlarm != a.EvaluationPeriods { // they are all of them by default
		items = append(items, "DatapointsToAlarm: "+either("", float64(a.DatapointsToAlarm)))
	}
	return fill("  "+a.Name+": {Type: AWS::CloudWatch::Alarm, Properties: {", items, "}}")
}

// watched is the metric, or the metrics of an expression.
func (a Alarm) watched() []string {
	if q := a.Queries[0]; q.Expression == "" {
		return []string{
			"Namespace: " + q.Metric.Namespace, "MetricName: " + q.Metric.Name, dimensions(q.Metric),
			"Period: " + seconds(q), "Statistic: " + q.Statistic,
		}
	}
	var metrics []string
	for _, q := range a.Queries {
		if q.Expression != "" {
			metrics = append(metrics, fmt.Sprintf("{Id: %s, Expression: %s}", q.ID, expressionText(q.Expression)))
			continue
		}
		metrics = append(metrics, fmt.Sprintf(
			"{Id: %s, ReturnData: false, MetricStat: {Period: %s, Stat: %s, Metric: {Namespace: %s, MetricName: %s, %s}}}",
			q.ID, seconds(q), q.Statistic, q.Metric.Namespace, q.Metric.Name, dimensions(q.Metric)))
	}
	return []string{"Metrics: [" + strings.Join(metrics, ", ") + "]"}
}

func dimensions(m alarm.Metric) string {
	var all []string
	for _, d := range m.Dimensions {
		value := d.Value
		if sub, ok := strings.CutPrefix(value, "!Sub "); ok {
			value = "!Sub " + quoted(sub)
		}
		all = append(all, "{Name: "+d.Name+", Value: "+value+"}")
	}
	return "Dimensions: [" + strings.Join(all, ", ") + "]"
}

func seconds(q alarm.Query) string { return strconv.Itoa(int(q.Period.Seconds())) }

func expressionText(text string) string {
	if strings.Contains(text, "${") {
		return "!Sub " + quoted(text)
	}
	return quoted(text)
}

// either is a reference to a parameter, or a number without one.
func either(parameter string, number float64) string {
	if parameter != "" {
		return "!Ref " + parameter
	}
	return strconv.FormatFloat(number, 'f', -1, 64)
}

func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// YAML is the parameter as a member of the section Parameters.
func (p Parameter) YAML() string {
	return fill("  "+p.Name+": {", []string{p.Text}, "}")
}

// width is the longest line.
const width = 120

// fill writes a flow mapping: it breaks lines at spaces, where YAML lets a flow
// go on in the next line. Words of a quoted text may be parted too: YAML joins
// them with a space.
func fill(start string, items []string, end string) string {
	indent := strings.Repeat(" ", len(start)-len(strings.TrimLeft(start, " "))+2)
	return wrapped(start, indent, strings.Join(items, ", ")+end)
}

// folded writes a text with the same indentation in all lines, as YAML's folded
// style joins them.
func folded(indent, text string) string { return wrapped(indent, indent, text) }

func wrapped(start, indent, text string) string {
	var out strings.Builder
	line := start
	for _, word := range words(text) {
		if line != start && len(line)+1+len(word) > width {
			out.WriteString(line + "\n")
			line = indent + word
			continue
		}
		if line != start {
			line += " "
		}
		line += word
	}
	return out.String() + line + "\n"
}

// words cuts a flow where it may be broken: after a comma, and within a quoted
// text. A key stays with its value, and a tag with its argument.
func words(flow string) []string {
	var all []string
	inText, glued := false, false
	for part := range strings.SplitSeq(flow, " ") {
		if glued {
			all[len(all)-1] += " " + part
		} else {
			all = append(all, part)
		}
		if strings.Count(strings.ReplaceAll(part, `\"`, ""), `"`)%2 == 1 {
			inText = !inText
		}
		glued = !inText && !strings.HasSuffix(part, ",")
	}
	return all
}
