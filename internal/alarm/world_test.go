package alarm_test

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
	"github.com/sqsafe/sqsafe/internal/alarm/sqsmetrics"
	"github.com/sqsafe/sqsafe/internal/alarmset"
)

var midnight = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// unit is a function with its queues and the alarms that watch them.
type unit struct {
	alarmset.Unit
	alarms map[string]alarmset.Alarm // by role
	roles  []string                  // in the order of the set
}

// charge is a function as the template names it.
func charge() alarmset.Unit {
	return alarmset.Unit{
		Prefix: "Charge", Function: "ChargeFunction", Mapping: "ChargeFunctionCharge", Source: "ChargeQueue",
		Dead: "ChargeDeadLetterQueue", LogGroup: "${ChargeLogGroup}", Namespace: "sqsafe", Timeout: "30", Alias: "live",
	}
}

// atWorker is a worker with the queues of charge.
func atWorker() alarmset.Unit {
	u := charge()
	u.Function, u.Mapping, u.LogGroup, u.Alias, u.Metrics = "", "", "", "", "charges"
	return u
}

// all are the sets.
var all = []alarmset.Set{alarmset.Basic, alarmset.Full, alarmset.Traffic, alarmset.Rollback}

// watchedBy has the alarms of sets, with parameters that are not their defaults.
func watchedBy(u alarmset.Unit, values map[string]float64, sets ...alarmset.Set) unit {
	out := unit{Unit: u, alarms: map[string]alarmset.Alarm{}}
	for _, a := range alarmset.Alarms(u, values, sets...) {
		out.alarms[a.Role] = a
		out.roles = append(out.roles, a.Role)
	}
	return out
}

// dimension is the value that a unit's metrics have.
func (u unit) dimension(role string) string {
	queries := u.alarms[role].Queries
	return queries[len(queries)-1].Metric.Dimensions[0].Value
}

// minute is what happens to a unit in a minute.
type minute struct {
	source, dead sqsmetrics.Sample
	// Invocations with their errors, throttles and longest run.
	invocations, errors, throttles int
	duration                       time.Duration
	// failed of the invoked events are those of batchItemFailures too, and deferred
	// those of them that were not run.
	invoked, failed, deferred int
	// moved tells that SQS moved the new dead letters, so the function counts none.
	moved bool
	// own are further metrics of the function, such as Unrecorded.
	own map[string]int
	// gone tells that no worker runs.
	gone bool
	// lost tells that none of the minute's metrics are published.
	lost bool
}

// reading is one way to read what AWS leaves open, and how late metrics come.
type reading struct {
	options alarm.Options
	late    int // minutes
}

// readings are those that the scenarios hold in: the evaluation range of the
// user guide's example and a longer one, metrics at once and late.
func readings() []reading {
	var all []reading
	for _, beyond := range []int{2, 6} {
		for late := range 3 {
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
	for role, a := range u.alarms {
		if err := e.Watch(a.Definition); err != nil {
			t.Fatal(err)
		}
		names[a.Name] = role
	}
	source := sqsmetrics.Queue{Name: u.dimension("QueueAge")}
	dead := sqsmetrics.Queue{Name: u.dimension("NotEmpty"), WakeDelay: wake}
	pending := slices.Repeat([][]alarm.Datapoint{nil}, r.late)
	changes := map[string][]alarm.Transition{}
	letters := 0
	for m := range minutes {
		at := midnight.Add(time.Duration(m) * time.Minute)
		w := world(m)
		before := letters
		letters = w.dead.Visible + w.dead.NotVisible
		points := slices.Concat(
			source.Publish(at, w.source), dead.Publish(at, w.dead), u.lambda(at, w), u.ours(at, w, max(0, letters-before)),
		)
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
	if u.Function == "" {
		return nil
	}
	var points []alarm.Datapoint
	add := func(name, dimension, value string, x float64) {
		points = append(points, alarm.Value(alarm.Metric{
			Namespace: "AWS/Lambda", Name: name, Dimensions: []alarm.Dimension{{Name: dimension, Value: value}},
		}, at, x))
	}
	function, mapping := u.dimension("FunctionErrors"), u.dimension("PartialFailures")
	if w.invocations > 0 {
		add("Invocations", "FunctionName", function, float64(w.invocations))
		add("Errors", "FunctionName", function, float64(w.errors))
		add("Duration", "FunctionName", function, float64(cmp.Or(w.duration, time.Second).Milliseconds()))
	}
	if w.invocations+w.throttles > 0 {
		add("Throttles", "FunctionName", function, float64(w.throttles))
	}
	if w.invoked > 0 {
		add("InvokedEventCount", "EventSourceMappingUUID", mapping, float64(w.invoked))
	}
	if w.failed > 0 {
		add("FailedInvokeEventCount", "EventSourceMappingUUID", mapping, float64(w.failed))
	}
	return points
}

// ours are the metrics that the function writes itself. A count of zero is none,
// and a function that crashes in all batches writes none.
func (u unit) ours(at time.Time, w minute, letters int) []alarm.Datapoint {
	counts := maps.Clone(w.own)
	if counts == nil {
		counts = map[string]int{}
	}
	if w.moved {
		letters = 0
	}
	if w.invoked > 0 && w.errors < w.invocations {
		counts["Messages"] = w.invoked
		counts["Retry"], counts["Deferred"] = w.failed-w.deferred, w.deferred
		counts["Dead"] = min(letters, w.invoked-w.failed)
		counts["Done"] = w.invoked - w.failed - counts["Dead"]
	}
	counts["DeadLetterSent"] = letters
	if u.Function == "" && !w.gone {
		counts["Workers"] = 1
	}
	metric := u.alarms["Arrivals"].Queries[0].Metric
	var points []alarm.Datapoint
	for name, n := range counts {
		if metric.Name = name; n > 0 {
			points = append(points, alarm.Value(metric, at, float64(n)))
		}
	}
	return points
}
