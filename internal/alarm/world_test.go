package alarm_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
	"github.com/sqsafe/sqsafe/internal/alarm/sqsmetrics"
	"github.com/sqsafe/sqsafe/internal/stack"
)

const templatePath = "../../template.yaml"

var midnight = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// unit is a function with its queues and the alarms that watch them.
type unit struct {
	function, mapping string
	source, dead      stack.Queue
	timeout           time.Duration
	alarms            map[string]alarm.Definition // by role
}

// roles are what alarms are for. Their logical ids end with them, before Alarm.
var roles = []string{
	"NotEmpty", "Arrivals", "Flood", "DeadLetterAge", "QueueAge", "QueueExpiry", "ConsumerStalled", "InFlight",
	"PartialFailures", "FunctionErrors", "Throttles", "NearTimeout", "ProducerSilent",
}

func roleOf(t *testing.T, logicalID string) string {
	t.Helper()
	i := slices.IndexFunc(roles, func(role string) bool { return strings.HasSuffix(logicalID, role+"Alarm") })
	if i < 0 {
		t.Errorf("the alarm %s has no role in this test: add one", logicalID)
		return logicalID
	}
	return roles[i]
}

// readUnits reads the template's functions and their alarms.
func readUnits(t *testing.T, parameters map[string]string) []unit {
	t.Helper()
	options := &stack.Options{Parameters: parameters}
	s, err := stack.Read(templatePath, options)
	if err != nil {
		t.Fatal(err)
	}
	alarms, err := stack.ReadAlarms(templatePath, options)
	if err != nil {
		t.Fatal(err)
	}
	var units []unit
	watched := 0
	for _, f := range s.Functions {
		u := unit{function: f.Name, mapping: f.LogicalID + f.Events[0].Name, timeout: f.Timeout}
		u.source, _ = s.Queue(f.Events[0].Queue)
		u.dead, _ = s.Queue(u.source.DeadLetterQueue)
		u.alarms = map[string]alarm.Definition{}
		for _, a := range alarms {
			if u.owns(a.Definition) {
				u.alarms[roleOf(t, a.LogicalID)] = a.Definition
				watched++
			}
		}
		units = append(units, u)
	}
	if watched != len(alarms) {
		t.Errorf("%d alarms, of which %d watch a function or its queues, each in a role of its own", len(alarms), watched)
	}
	return units
}

// owns tells whether all metrics of an alarm are about the unit.
func (u unit) owns(d alarm.Definition) bool {
	mine := []string{u.function, u.mapping, u.source.Name, u.dead.Name}
	return !slices.ContainsFunc(d.Queries, func(q alarm.Query) bool {
		return slices.ContainsFunc(q.Metric.Dimensions, func(x alarm.Dimension) bool {
			return !slices.Contains(mine, x.Value)
		})
	})
}

// minute is what happens to a unit in a minute.
type minute struct {
	source, dead sqsmetrics.Sample
	// Invocations with their errors, throttles and longest run.
	invocations, errors, throttles int
	duration                       time.Duration
	// failed of the invoked events are those of batchItemFailures too.
	invoked, failed int
	// lost tells that none of the minute's metrics are published.
	lost bool
}

// reading is one way to read what AWS leaves open, and how late metrics come.
type reading struct {
	options alarm.Options
	late    int // minutes
}

// readings are those that the scenarios hold in: the evaluation range of the
// user guide's example and a longer one, metrics at once and late. In the short
// range two minutes late leave one datapoint, which has no difference to another.
func readings() []reading {
	var all []reading
	for _, beyond := range []int{2, 6} {
		for late := range min(beyond, 3) {
			all = append(all, reading{alarm.Options{RangeBeyond: beyond}, late})
		}
	}
	return all
}

// run plays minutes to a unit's alarms and gives the changes by role.
func (u unit) run(
	t *testing.T, r reading, wake time.Duration, minutes int, world func(m int) minute,
) map[string][]alarm.Transition {
	t.Helper()
	// The alarms begin when there are metrics already.
	e := alarm.NewEvaluator(midnight.Add(begins/2*time.Minute), &r.options)
	names := map[string]string{}
	for role, d := range u.alarms {
		if err := e.Watch(d); err != nil {
			t.Fatal(err)
		}
		names[d.Name] = role
	}
	source := sqsmetrics.Queue{Name: u.source.Name}
	dead := sqsmetrics.Queue{Name: u.dead.Name, WakeDelay: wake}
	pending := slices.Repeat([][]alarm.Datapoint{nil}, r.late)
	changes := map[string][]alarm.Transition{}
	for m := range minutes {
		at := midnight.Add(time.Duration(m) * time.Minute)
		w := world(m)
		points := slices.Concat(source.Publish(at, w.source), dead.Publish(at, w.dead), u.lambda(at, w))
		if w.lost {
			points = nil
		}
		pending = append(pending, points)
		e.Add(pending[0]...)
		pending = pending[1:]
		for _, c := range e.Advance(at.Add(time.Minute)) {
			changes[names[c.Name]] = append(changes[names[c.Name]], c)
		}
	}
	return changes
}

// lambda are the metrics of a minute. There are none without an invocation, and
// no count of events without some.
func (u unit) lambda(at time.Time, w minute) []alarm.Datapoint {
	var points []alarm.Datapoint
	add := func(name, dimension, value string, x float64) {
		points = append(points, alarm.Value(alarm.Metric{
			Namespace: "AWS/Lambda", Name: name, Dimensions: []alarm.Dimension{{Name: dimension, Value: value}},
		}, at, x))
	}
	if w.invocations > 0 {
		add("Invocations", "FunctionName", u.function, float64(w.invocations))
		add("Errors", "FunctionName", u.function, float64(w.errors))
		add("Duration", "FunctionName", u.function, float64(cmp.Or(w.duration, time.Second).Milliseconds()))
	}
	if w.invocations+w.throttles > 0 {
		add("Throttles", "FunctionName", u.function, float64(w.throttles))
	}
	if w.invoked > 0 {
		add("InvokedEventCount", "EventSourceMappingUUID", u.mapping, float64(w.invoked))
	}
	if w.failed > 0 {
		add("FailedInvokeEventCount", "EventSourceMappingUUID", u.mapping, float64(w.failed))
	}
	return points
}
