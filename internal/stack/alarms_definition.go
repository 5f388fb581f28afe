package stack

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
)

const kindAlarm = "AWS::CloudWatch::Alarm"

// Alarm is an AWS::CloudWatch::Alarm.
type Alarm struct {
	LogicalID string
	// Definition has the alarm's properties and its name, which is the logical
	// id if the template sets none. Actions that exist only in AWS are given by
	// their logical ids.
	Definition alarm.Definition
}

// ReadAlarms reads the alarms of the template at path, in its order, except
// those whose condition is false. Every error is an [*Error]. It does not check
// whether an alarm can be evaluated; the evaluator does.
func ReadAlarms(path string, o *Options) ([]Alarm, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	document, _, err := load(path, data)
	if err != nil {
		return nil, err
	}
	t := &template{file: path, options: o.withDefaults(), placeholders: true}
	t.declare(document)
	var alarms []Alarm
	for _, r := range t.resources {
		if r.kind == kindAlarm && t.err == nil && t.exists(r) {
			alarms = append(alarms, t.alarm(r))
		}
	}
	if t.err != nil {
		return nil, t.err
	}
	return alarms, nil
}

// alarmProperties are the properties that an [alarm.Definition] has.
var alarmProperties = []string{
	"ActionsEnabled", "AlarmActions", "AlarmDescription", "AlarmName", "ComparisonOperator", "DatapointsToAlarm",
	"Dimensions", "EvaluationPeriods", "InsufficientDataActions", "MetricName", "Metrics", "Namespace", "OKActions",
	"Period", "Statistic", "Tags", "Threshold", "TreatMissingData",
}

func (t *template) alarm(r *resource) Alarm {
	s := t.properties(r)
	d := alarm.Definition{
		Name:                    s.text("AlarmName"),
		Description:             s.text("AlarmDescription"),
		ComparisonOperator:      s.text("ComparisonOperator"),
		Threshold:               alarmNumber(s, "Threshold"),
		EvaluationPeriods:       s.integer("EvaluationPeriods", 0, 1, 1<<31-1),
		DatapointsToAlarm:       s.integer("DatapointsToAlarm", 0, 1, 1<<31-1),
		TreatMissingData:        s.text("TreatMissingData"),
		ActionsDisabled:         !s.flag("ActionsEnabled", true),
		AlarmActions:            alarmActions(s, "AlarmActions"),
		OKActions:               alarmActions(s, "OKActions"),
		InsufficientDataActions: alarmActions(s, "InsufficientDataActions"),
	}
	if d.Name == "" {
		d.Name = r.id
	}
	for _, e := range entries(s.node) {
		if !slices.Contains(alarmProperties, e.key.Value) && t.resolve(e.value) != nil {
			d.Other = append(d.Other, e.key.Value)
		}
	}
	d.Queries = t.alarmQueries(s, &d)
	return Alarm{LogicalID: r.id, Definition: d}
}

// alarmQueries reads the alarm's own metric, or those of its Metrics.
func (t *template) alarmQueries(s section, d *alarm.Definition) []alarm.Query {
	if s.member("MetricName") != nil {
		q := t.alarmMetric(s, s)
		q.ID, q.Statistic, q.ReturnData = "m", s.text("Statistic"), true
		return []alarm.Query{q}
	}
	var queries []alarm.Query
	for i, n := range s.items("Metrics") {
		m := t.section(s.path+": Metrics "+strconv.Itoa(i+1), n, n)
		q := alarm.Query{}
		known := []string{"Expression", "Id", "Label", "MetricStat", "ReturnData"}
		if stat := m.section("MetricStat"); stat.node != nil {
			q = t.alarmMetric(stat.section("Metric"), stat)
			q.Statistic = stat.text("Stat")
			if stat.text("Unit") != "" {
				d.Other = append(d.Other, "Unit")
			}
		}
		q.ID, q.Expression, q.ReturnData = m.text("Id"), m.text("Expression"), m.flag("ReturnData", true)
		for _, e := range entries(m.node) {
			if !slices.Contains(known, e.key.Value) {
				d.Other = append(d.Other, e.key.Value)
			}
		}
		queries = append(queries, q)
	}
	return queries
}

// alarmMetric reads a metric from one section and its period in seconds from
// another.
func (t *template) alarmMetric(metric, period section) alarm.Query {
	m := alarm.Metric{Namespace: metric.text("Namespace"), Name: metric.text("MetricName")}
	for i, n := range metric.items("Dimensions") {
		d := t.section(metric.path+": Dimensions "+strconv.Itoa(i+1), n, n)
		m.Dimensions = append(m.Dimensions, alarm.Dimension{Name: d.text("Name"), Value: d.text("Value")})
	}
	seconds := period.integer("Period", 0, 1, 7*24*60*60)
	return alarm.Query{Metric: m, Period: time.Duration(seconds) * time.Second}
}

// madeBySAM reports whether SAM creates an event source mapping with this
// logical id: its ids are those of a function and one of its events, joined.
func (t *template) madeBySAM(id string) bool {
	for _, r := range t.resources {
		event, ok := strings.CutPrefix(id, r.id)
		if !ok || r.kind != kindFunction {
			continue
		}
		if member(t.properties(r).section("Events").node, event) != nil {
			return true
		}
	}
	return false
}

// alarmNumber returns 0 for an absent member.
func alarmNumber(s section, name string) float64 {
	text := s.text(name)
	if text == "" {
		return 0
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.fail(name, " %q: a number is needed", text)
	}
	return f
}

func alarmActions(s section, name string) []string {
	var actions []string
	for _, n := range s.items(name) {
		actions = append(actions, s.t.text(n, s.path+": "+name))
	}
	return actions
}
