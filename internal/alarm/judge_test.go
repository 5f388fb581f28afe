package alarm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
)

var depth = alarm.Metric{
	Namespace: "AWS/SQS", Name: "Depth", Dimensions: []alarm.Dimension{{Name: "QueueName", Value: "jobs"}},
}

// simple is an alarm on the depth when it is above 0.
func simple(n, m int, treat string) alarm.Definition {
	return alarm.Definition{
		Name: "deep",
		Queries: []alarm.Query{
			{ID: "m", Metric: depth, Statistic: "Maximum", Period: time.Minute, ReturnData: true},
		},
		ComparisonOperator: "GreaterThanThreshold",
		EvaluationPeriods:  n, DatapointsToAlarm: m, TreatMissingData: treat,
	}
}

// feed adds the samples of a drawing, a minute each: 0 within the threshold, X
// breaching, - missing. It gives the minute after them.
func feed(e *alarm.Evaluator, drawing string) time.Time {
	at := midnight
	for c := range strings.FieldsSeq(drawing) {
		if c != "-" {
			e.Add(alarm.Value(depth, at, float64(len(strings.Trim(c, "0")))))
		}
		at = at.Add(time.Minute)
	}
	return at
}

func watch(t *testing.T, e *alarm.Evaluator, d alarm.Definition) {
	t.Helper()
	if err := e.Watch(d); err != nil {
		t.Fatal(err)
	}
}

// The rows are those of the tables in the user guide; "kept" is an alarm that
// stays as it is. In the last two the guide says in words that it waits.
func TestMissingData(t *testing.T) {
	t.Parallel()
	const kept = alarm.InsufficientData
	for _, row := range []struct {
		n, m                                     int
		samples                                  string
		missing, ignore, breaching, notBreaching alarm.State
	}{
		{3, 3, "0 - X - X", alarm.OK, alarm.OK, alarm.OK, alarm.OK},
		{3, 3, "0 - - - -", alarm.OK, alarm.OK, alarm.OK, alarm.OK},
		{3, 3, "- - - - -", alarm.InsufficientData, kept, alarm.Alarm, alarm.OK},
		{3, 3, "0 X X - X", alarm.Alarm, alarm.Alarm, alarm.Alarm, alarm.Alarm},
		{3, 3, "- - X - -", alarm.Alarm, kept, alarm.Alarm, alarm.OK},
		{3, 2, "0 - X - X", alarm.Alarm, alarm.Alarm, alarm.Alarm, alarm.Alarm},
		{3, 2, "0 0 X 0 X", alarm.Alarm, alarm.Alarm, alarm.Alarm, alarm.Alarm},
		{3, 2, "0 - X - -", alarm.OK, alarm.OK, alarm.Alarm, alarm.OK},
		{3, 2, "- - - - 0", alarm.OK, alarm.OK, alarm.Alarm, alarm.OK},
		{3, 2, "- - - X -", alarm.Alarm, kept, alarm.Alarm, alarm.OK},
		{3, 3, "- - - - X", kept, kept, alarm.Alarm, alarm.OK},
		{3, 3, "- - - X -", kept, kept, alarm.Alarm, alarm.OK},
	} {
		for treat, want := range map[string]alarm.State{
			"missing": row.missing, "": row.missing, "ignore": row.ignore,
			"breaching": row.breaching, "notBreaching": row.notBreaching,
		} {
			end := midnight.Add(5 * time.Minute)
			e := alarm.NewEvaluator(end.Add(-time.Minute), nil)
			watch(t, e, simple(row.n, row.m, treat))
			feed(e, row.samples)
			e.Advance(end)
			if got := e.States()[0].State; got != want {
				t.Errorf("%d of %d, %s, missing data %q: %s, want %s", row.m, row.n, row.samples, treat, got, want)
			}
		}
	}
}

// A state that is kept is the one before, whichever it is.
func TestIgnoredDataKeepTheState(t *testing.T) {
	t.Parallel()
	for drawing, want := range map[string]alarm.State{
		"X - - - - - - - -": alarm.Alarm,
		"0 - - - - - - - -": alarm.OK,
		"X 0 - - - - - - -": alarm.OK,
		"- - - - - - - - -": alarm.InsufficientData,
	} {
		e := alarm.NewEvaluator(midnight, nil)
		watch(t, e, simple(1, 0, "ignore"))
		e.Advance(feed(e, drawing))
		if got := e.States()[0].State; got != want {
			t.Errorf("%s: %s, want %s", drawing, got, want)
		}
	}
}

// An old datapoint counts as long as the evaluation range has it.
func TestRangeBeyond(t *testing.T) {
	t.Parallel()
	for beyond, want := range map[int]string{0: "ALARM@1 OK@4", 2: "ALARM@1 OK@4", 1: "ALARM@1 OK@3", 6: "ALARM@1 OK@8"} {
		e := alarm.NewEvaluator(midnight, &alarm.Options{RangeBeyond: beyond})
		watch(t, e, simple(1, 1, "notBreaching"))
		end := feed(e, "X - - - - - - - - - -")
		if got := drawn(e.Advance(end)); got != want {
			t.Errorf("%d beyond: %s, want %s", beyond, got, want)
		}
	}
}

func TestComparisonOperators(t *testing.T) {
	t.Parallel()
	for operator, want := range map[string][3]alarm.State{
		"GreaterThanThreshold":          {alarm.OK, alarm.OK, alarm.Alarm},
		"GreaterThanOrEqualToThreshold": {alarm.OK, alarm.Alarm, alarm.Alarm},
		"LessThanThreshold":             {alarm.Alarm, alarm.OK, alarm.OK},
		"LessThanOrEqualToThreshold":    {alarm.Alarm, alarm.Alarm, alarm.OK},
	} {
		for i, value := range []float64{1, 2, 3} {
			d := simple(1, 1, "")
			d.ComparisonOperator, d.Threshold = operator, 2
			e := alarm.NewEvaluator(midnight, nil)
			watch(t, e, d)
			e.Add(alarm.Value(depth, midnight, value))
			e.Advance(midnight.Add(time.Minute))
			if got := e.States()[0].State; got != want[i] {
				t.Errorf("%v %s 2: %s, want %s", value, operator, got, want[i])
			}
		}
	}
}
