package alarmset

import (
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
)

// Set says who needs an alarm.
type Set string

// The sets. Full adds to Basic; the others stand beside them.
const (
	// Basic tells of every dead letter, and of a consumer that stands still.
	Basic Set = "basic"
	// Full adds early signs.
	Full Set = "full"
	// Traffic is for a queue that gets jobs all day.
	Traffic Set = "traffic"
	// Rollback watches the version that a deployment brings.
	Rollback Set = "rollback"
)

// Urgency says when somebody has to read of an alarm.
type Urgency int

// The urgencies. Each has a topic.
const (
	// Morning: it is enough to read it on the next day.
	Morning Urgency = iota
	// Now: it wakes somebody.
	Now
)

// Alarm is an alarm of a unit. The names in its definition are texts of the
// template.
type Alarm struct {
	alarm.Definition
	// Role is what the alarm is for, such as Flood.
	Role    string
	Set     Set
	Urgency Urgency
	// The parameters that the template takes these numbers from; empty for none.
	ThresholdFrom, PeriodsFrom string
}

// Alarms gives the alarms of a unit that are in one of the sets, in a fixed
// order. Values override the defaults of parameters; nil overrides none.
func Alarms(u Unit, values map[string]float64, sets ...Set) []Alarm {
	var all []Alarm
	for _, group := range []func(Unit) []Alarm{deadLetters, waiting, runs, promises, versions} {
		all = append(all, group(u)...)
	}
	all = slices.DeleteFunc(all, func(a Alarm) bool { return !slices.Contains(sets, a.Set) })
	for i := range all {
		a := &all[i]
		a.Name = u.Prefix + a.Name + "Alarm"
		a.Description = describe(u, *a)
		if p := a.ThresholdFrom; p != "" {
			a.Threshold = value(p, values)
		}
		if p := a.PeriodsFrom; p != "" {
			a.EvaluationPeriods = int(value(p, values))
			a.DatapointsToAlarm = a.EvaluationPeriods
		}
	}
	return all
}

// Named gives the logical id of the alarm that a unit has in a role.
func Named(u Unit, role string) string {
	for _, a := range Alarms(u, nil, Basic, Full, Traffic, Rollback) {
		if a.Role == role {
			return a.Name
		}
	}
	return ""
}

// The comparisons that are used.
const (
	above   = "GreaterThanThreshold"
	atLeast = "GreaterThanOrEqualToThreshold"
	atMost  = "LessThanOrEqualToThreshold"
	below   = "LessThanThreshold"
)

// What stands in for missing data.
const (
	quiet  = "notBreaching"
	keep   = "ignore"
	breach = "breaching"
)

// newAlarm makes an alarm that needs m of the last n datapoints. The id is that of
// the resource, between the unit's prefix and Alarm.
func newAlarm(role, id string, set Set, urgency Urgency, m, n int, missing string, queries ...alarm.Query) Alarm {
	queries[0].ReturnData = true
	return Alarm{
		Role: role, Set: set, Urgency: urgency,
		Definition: alarm.Definition{
			Name: id, Queries: queries, EvaluationPeriods: n, DatapointsToAlarm: m, TreatMissingData: missing,
		},
	}
}

// compares sets the comparison, with a number or a parameter.
func (a Alarm) compares(operator string, threshold float64) Alarm {
	a.ComparisonOperator, a.Threshold = operator, threshold
	return a
}

func (a Alarm) comparesWith(operator, parameter string) Alarm {
	a.ComparisonOperator, a.ThresholdFrom = operator, parameter
	return a
}

func expression(text string) alarm.Query { return alarm.Query{ID: "e", Expression: text} }

func query(id, namespace, name, statistic string, minutes int, dimensions ...alarm.Dimension) alarm.Query {
	return alarm.Query{
		ID: id, Statistic: statistic, Period: time.Duration(minutes) * time.Minute,
		Metric: alarm.Metric{Namespace: namespace, Name: name, Dimensions: dimensions},
	}
}

func ofQueue(id, queue, name, statistic string, minutes int) alarm.Query {
	return query(id, sqs, name, statistic, minutes, alarm.Dimension{Name: "QueueName", Value: queueName(queue)})
}

func (u Unit) ofFunction(id, name, statistic string, minutes int) alarm.Query {
	return query(id, lambda, name, statistic, minutes, alarm.Dimension{Name: "FunctionName", Value: u.function()})
}

func (u Unit) ofMapping(id, name string) alarm.Query {
	d := alarm.Dimension{Name: "EventSourceMappingUUID", Value: "!Ref " + u.Mapping}
	return query(id, lambda, name, "Sum", 1, d)
}

// ofOurs is a metric that the consumer writes itself.
func (u Unit) ofOurs(id, name string, minutes int) alarm.Query {
	return query(id, u.Namespace, name, "Sum", minutes, alarm.Dimension{Name: "FunctionName", Value: u.own()})
}
