package alarm

import (
	"slices"
	"strings"
	"time"
)

// State is the state of an alarm, in CloudWatch's words.
type State string

// The states of an alarm. A new alarm is in InsufficientData.
const (
	OK               State = "OK"
	Alarm            State = "ALARM"
	InsufficientData State = "INSUFFICIENT_DATA"
)

// Definition is an alarm as a template describes it. Names and values are
// those of AWS::CloudWatch::Alarm.
type Definition struct {
	// Name is unique within an [Evaluator].
	Name        string
	Description string
	// Queries are the metrics and expressions. An alarm on one metric has one.
	Queries []Query
	// ComparisonOperator is GreaterThanThreshold, GreaterThanOrEqualToThreshold,
	// LessThanThreshold or LessThanOrEqualToThreshold.
	ComparisonOperator string
	Threshold          float64
	// EvaluationPeriods is how many datapoints are judged, at least 1.
	EvaluationPeriods int
	// DatapointsToAlarm is how many of these must breach; 0 means all.
	DatapointsToAlarm int
	// TreatMissingData is missing, ignore, breaching or notBreaching; empty means
	// missing, and ignore for metrics of DynamoDB.
	TreatMissingData string
	// ActionsDisabled keeps transitions from having actions.
	ActionsDisabled bool
	// The actions of a change to each state, as their ARNs or names.
	AlarmActions            []string
	OKActions               []string
	InsufficientDataActions []string
	// Other names the properties that the definition has besides these. There is
	// none that an evaluator could leave aside, so it refuses the alarm.
	Other []string
}

// Query is a metric or an expression of an alarm.
type Query struct {
	// ID is what expressions call it.
	ID string
	// Expression is metric math; empty for a metric.
	Expression string
	// Metric, Statistic and Period describe a metric.
	Metric Metric
	// Statistic is Maximum, Minimum, Sum, Average or SampleCount.
	Statistic string
	// Period is a whole number of minutes.
	Period time.Duration
	// ReturnData marks the query that is compared with the threshold; one has it.
	ReturnData bool
}

// Metric names a series of datapoints. Two metrics with the same names and
// dimensions are the same, whatever the order of these.
type Metric struct {
	Namespace  string
	Name       string
	Dimensions []Dimension
}

// Dimension is a name and a value that tell metrics of one name apart.
type Dimension struct{ Name, Value string }

// query returns the query with the given id.
func (d *Definition) query(id string) (Query, bool) {
	i := slices.IndexFunc(d.Queries, func(q Query) bool { return q.ID == id })
	if i < 0 {
		return Query{}, false
	}
	return d.Queries[i], true
}

// key is the metric as a map's key.
func (m Metric) key() string {
	parts := []string{m.Namespace, m.Name}
	dimensions := slices.Clone(m.Dimensions)
	slices.SortFunc(dimensions, func(a, b Dimension) int { return strings.Compare(a.Name, b.Name) })
	for _, d := range dimensions {
		parts = append(parts, d.Name, d.Value)
	}
	return strings.Join(parts, "\x00")
}

// actions are those of a change to a state.
func (d *Definition) actions(to State) []string {
	switch {
	case d.ActionsDisabled:
		return nil
	case to == Alarm:
		return d.AlarmActions
	case to == OK:
		return d.OKActions
	}
	return d.InsufficientDataActions
}

// toAlarm is how many datapoints must breach.
func (d *Definition) toAlarm() int {
	if d.DatapointsToAlarm == 0 {
		return d.EvaluationPeriods
	}
	return d.DatapointsToAlarm
}
