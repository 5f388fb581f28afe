package alarm_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/alarm"
)

// drawn writes changes as STATE@MINUTE.
func drawn(changes []alarm.Transition) string {
	var words []string
	for _, c := range changes {
		words = append(words, fmt.Sprintf("%s@%.0f", c.To, c.At.Sub(midnight).Minutes()))
	}
	return strings.Join(words, " ")
}

// Actions run with a change only: what comes while the alarm is in ALARM is not
// announced.
func TestActionsRunOnChanges(t *testing.T) {
	t.Parallel()
	d := simple(1, 1, "notBreaching")
	d.AlarmActions, d.OKActions, d.InsufficientDataActions = []string{"page"}, []string{"calm"}, []string{"doubt"}
	e := alarm.NewEvaluator(midnight, nil)
	watch(t, e, d)
	got := e.Advance(feed(e, "0 X X XX X 0 X"))
	want := []struct {
		at, action string
		from, to   alarm.State
	}{
		{"00:01", "calm", alarm.InsufficientData, alarm.OK},
		{"00:02", "page", alarm.OK, alarm.Alarm},
		{"00:06", "calm", alarm.Alarm, alarm.OK},
		{"00:07", "page", alarm.OK, alarm.Alarm},
	}
	if len(got) != len(want) {
		t.Fatalf("got %d changes %s, want %d", len(got), drawn(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.At.Format("15:04") != w.at || g.From != w.from || g.To != w.to || strings.Join(g.Actions, " ") != w.action ||
			g.Name != "deep" {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
}

func TestDisabledActions(t *testing.T) {
	t.Parallel()
	d := simple(1, 1, "")
	d.AlarmActions, d.ActionsDisabled = []string{"page"}, true
	e := alarm.NewEvaluator(midnight, nil)
	watch(t, e, d)
	got := e.Advance(feed(e, "X"))
	if len(got) != 1 || got[0].To != alarm.Alarm || got[0].Actions != nil {
		t.Errorf("got %+v, want a change to ALARM without actions", got)
	}
}

func TestInsufficientDataHasActions(t *testing.T) {
	t.Parallel()
	d := simple(1, 1, "missing")
	d.InsufficientDataActions = []string{"doubt"}
	e := alarm.NewEvaluator(midnight, nil)
	watch(t, e, d)
	got := e.Advance(feed(e, "0 - - - -"))
	if drawn(got) != "OK@1 INSUFFICIENT_DATA@4" || got[1].Actions[0] != "doubt" {
		t.Errorf("got %s, %+v", drawn(got), got)
	}
}

// Windows of several minutes slide with each evaluation, so that an alarm need
// not wait for the end of a period.
func TestPeriodsSlide(t *testing.T) {
	t.Parallel()
	d := simple(1, 1, "notBreaching")
	d.Queries[0].Period, d.Queries[0].Statistic, d.Threshold = 5*time.Minute, "Sum", 2
	e := alarm.NewEvaluator(midnight.Add(5*time.Minute), nil)
	watch(t, e, d)
	got := drawn(e.Advance(feed(e, "0 0 0 X 0 X X 0 0 0 0 0 0 0")))
	if want := "OK@6 ALARM@7 OK@9"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	for statistic, want := range map[string]float64{
		"Maximum": 6, "Minimum": 1, "Sum": 9, "Average": 3, "SampleCount": 3,
	} {
		d := simple(1, 1, "")
		d.Queries[0].Statistic = statistic
		e := alarm.NewEvaluator(midnight, nil)
		watch(t, e, d)
		e.Add(alarm.Value(depth, midnight, 1))
		e.Add(alarm.Datapoint{Metric: depth, Time: midnight, Count: 2, Sum: 8, Minimum: 2, Maximum: 6})
		e.Advance(midnight.Add(time.Minute))
		if got := e.States()[0].Value; got == nil || *got != want {
			t.Errorf("%s: %v, want %v", statistic, got, want)
		}
	}
}

// Dimensions are a set, and metrics with others are other metrics.
func TestMetricsAreToldApart(t *testing.T) {
	t.Parallel()
	a, b := alarm.Dimension{Name: "A", Value: "1"}, alarm.Dimension{Name: "B", Value: "2"}
	two := alarm.Metric{Namespace: "N", Name: "M", Dimensions: []alarm.Dimension{a, b}}
	turned := alarm.Metric{Namespace: "N", Name: "M", Dimensions: []alarm.Dimension{b, a}}
	d := simple(1, 1, "")
	d.Queries[0].Metric = two
	e := alarm.NewEvaluator(midnight, nil)
	watch(t, e, d)
	for _, m := range []alarm.Metric{
		{Namespace: "N", Name: "M"}, {Namespace: "O", Name: "M", Dimensions: two.Dimensions},
		{Namespace: "N", Name: "M", Dimensions: []alarm.Dimension{a, {Name: "B", Value: "3"}}},
	} {
		e.Add(alarm.Value(m, midnight, 7))
	}
	if got := e.Advance(midnight.Add(time.Minute)); got != nil {
		t.Errorf("an alarm sees the metrics of others: %+v", got)
	}
	e.Add(alarm.Value(turned, midnight, 7))
	if got := drawn(e.Advance(midnight.Add(2 * time.Minute))); got != "ALARM@2" {
		t.Errorf("got %q, want ALARM: the order of dimensions means nothing", got)
	}
}

// A datapoint that comes late is judged while the range has it.
func TestLateDatapoints(t *testing.T) {
	t.Parallel()
	for late, want := range map[int]string{1: "ALARM@2", 2: "ALARM@3", 3: "", 9: ""} {
		e := alarm.NewEvaluator(midnight, nil)
		watch(t, e, simple(1, 1, "ignore"))
		e.Advance(midnight.Add(time.Duration(late) * time.Minute))
		e.Add(alarm.Value(depth, midnight, 1))
		if got := drawn(e.Advance(midnight.Add(time.Duration(late+1) * time.Minute))); got != want {
			t.Errorf("%d minutes late: %q, want %q", late, got, want)
		}
	}
}

func TestTimeDoesNotGoBack(t *testing.T) {
	t.Parallel()
	e := alarm.NewEvaluator(midnight.Add(time.Hour), nil)
	watch(t, e, simple(1, 1, "breaching"))
	if got := e.Advance(midnight); got != nil {
		t.Errorf("got %s for a time before the start", drawn(got))
	}
	if got := e.Advance(midnight.Add(time.Hour + 59*time.Second)); got != nil {
		t.Errorf("got %s within a minute", drawn(got))
	}
	if got := drawn(e.Advance(midnight.Add(2 * time.Hour))); got != "ALARM@61" {
		t.Errorf("got %q, want the first evaluation at minute 61", got)
	}
}

// What is long past is forgotten, and what the widest alarm needs is not.
func TestLongRuns(t *testing.T) {
	t.Parallel()
	d := simple(24, 24, "notBreaching")
	d.Queries[0].Period = time.Hour
	e := alarm.NewEvaluator(midnight, nil)
	watch(t, e, d)
	var changes []alarm.Transition
	for h := range 72 {
		at := midnight.Add(time.Duration(h) * time.Hour)
		e.Add(alarm.Value(depth, at, 1))
		changes = append(changes, e.Advance(at.Add(time.Hour))...)
	}
	if got := drawn(changes); got != "OK@1 ALARM@1381" {
		t.Errorf("got %s, want ALARM with the 24th hour's datapoint", got)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	e := alarm.NewEvaluator(midnight, nil)
	watch(t, e, simple(3, 2, "notBreaching"))
	one := 1.0
	want := []alarm.Status{{Name: "deep", State: alarm.InsufficientData, Since: midnight}}
	if d := cmp.Diff(want, e.States()); d != "" {
		t.Errorf("at first (-want +got):\n%s", d)
	}
	e.Advance(feed(e, "X X"))
	want = []alarm.Status{{
		Name: "deep", State: alarm.Alarm, Since: midnight.Add(2 * time.Minute), Value: &one,
		Reason: "2 of 2 datapoints GreaterThan 0, 1 missing (notBreaching)",
	}}
	if d := cmp.Diff(want, e.States()); d != "" {
		t.Errorf("in ALARM (-want +got):\n%s", d)
	}
	e.Advance(midnight.Add(time.Hour))
	want = []alarm.Status{{
		Name: "deep", State: alarm.OK, Since: midnight.Add(6 * time.Minute),
		Reason: "1 of 1 datapoints GreaterThan 0, 2 missing (notBreaching)",
	}}
	if d := cmp.Diff(want, e.States()); d != "" {
		t.Errorf("after a pause (-want +got):\n%s", d)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	e := alarm.NewEvaluator(midnight, nil)
	watch(t, e, simple(1, 1, "ignore"))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for m := range 50 {
				at := midnight.Add(time.Duration(m) * time.Minute)
				e.Add(alarm.Value(depth, at, float64(i)))
				e.Advance(at.Add(time.Minute))
				e.States()
			}
		})
	}
	all.Wait()
	e.Advance(midnight.Add(51 * time.Minute))
	if got := e.States()[0].State; got != alarm.Alarm {
		t.Errorf("got %s, want ALARM", got)
	}
}
