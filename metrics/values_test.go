package metrics_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/metrics"
)

// named returns the values as a map, without durations.
func named(r handler.Report) map[string]float64 {
	all := map[string]float64{}
	for _, v := range metrics.Values(r) {
		if v.Unit == metrics.Count {
			all[v.Name] = v.N
		}
	}
	return all
}

func TestEveryOutcomeIsCounted(t *testing.T) {
	t.Parallel()
	for outcome := handler.OutcomeNone; outcome <= handler.OutcomeDropped; outcome++ {
		got := named(handler.Report{Messages: 3, Counts: []handler.Count{{Outcome: outcome, N: 3}}})
		name := strings.ToUpper(outcome.String()[:1]) + outcome.String()[1:]
		if got[name] != 3 {
			t.Errorf("%s: metrics %v, want %s to be 3", outcome, got, name)
		}
	}
}

func TestFailuresCountByOutcomeClassAndReason(t *testing.T) {
	t.Parallel()
	got := named(handler.Report{
		Messages: 12, Runs: 9, Sent: 2, Unsent: 1, Unsettled: 1, BreakerOpen: true,
		Counts: []handler.Count{
			{Outcome: handler.OutcomeDone, N: 4},
			{Outcome: handler.OutcomeRetry, Class: fault.ClassRetryable, Reason: "timeout", N: 2},
			{Outcome: handler.OutcomeRetry, Class: fault.ClassUnclassified, Reason: "unclassified", N: 1},
			{Outcome: handler.OutcomeDead, Class: fault.ClassPermanent, Reason: "validation", N: 2},
			{Outcome: handler.OutcomeDead, Class: fault.ClassRetryable, Reason: "exhausted", N: 1},
			{Outcome: handler.OutcomeBusy, Reason: "claimed", N: 1},
			{Outcome: handler.OutcomeDeferred, Reason: "breaker", N: 1},
		},
	})
	want := map[string]float64{
		"Messages": 12, "Attempts": 9, "Done": 4, "Retry": 3, "Dead": 3, "Busy": 1, "Deferred": 1,
		"Retryable": 3, "Unclassified": 1, "Permanent": 2,
		"Retry.timeout": 2, "Retry.unclassified": 1, "Dead.validation": 2, "Dead.exhausted": 1,
		"DeadLetterSent": 2, "DeadLetterFailed": 1, "SettleFailed": 1, "BreakerOpen": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestReasonsOverTheMaximumCountAsOther(t *testing.T) {
	t.Parallel()
	var counts []handler.Count
	for i := range 1000 {
		reason := fmt.Sprintf("order_%d", i)
		counts = append(counts, handler.Count{Outcome: handler.OutcomeDead, Reason: reason, N: 1})
	}
	got := named(handler.Report{Counts: append(counts,
		handler.Count{Outcome: handler.OutcomeDead, Reason: "common", N: 7},
		handler.Count{Outcome: handler.OutcomeDead, Reason: "Köln\n", N: 5},
	)})
	if len(got) != 2+metrics.MaxReasons || got["Dead.common"] != 7 || got["Dead.other"] != 5+1000-18 {
		t.Errorf("%d metrics, common %v, other %v", len(got), got["Dead.common"], got["Dead.other"])
	}
}

func TestDurationsAreMilliseconds(t *testing.T) {
	t.Parallel()
	got := metrics.Values(handler.Report{Took: 1500 * time.Millisecond, TimeLeft: 2 * time.Second})
	want := []metrics.Value{
		{Name: "BatchTime", Unit: metrics.Milliseconds, N: 1500}, {Name: "TimeLeft", Unit: metrics.Milliseconds, N: 2000},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if got := metrics.Values(handler.Report{}); len(got) != 1 {
		t.Errorf("without a limit there is no time left: %v", got)
	}
}

func TestEachJobHasItsTimes(t *testing.T) {
	t.Parallel()
	got := metrics.Values(handler.Report{Jobs: []handler.JobReport{
		{Outcome: handler.OutcomeDone, Ran: true, Run: 40 * time.Millisecond, Age: 2 * time.Second, Budget: 2},
		{Outcome: handler.OutcomeDead, Reason: "validation", Age: time.Second},
		{Outcome: handler.OutcomeDead, Reason: "exhausted", Ran: true, Run: time.Second, Age: time.Minute, Budget: 8},
		{Outcome: handler.OutcomeRetry, Reason: "timeout", Ran: true, Run: 3 * time.Second, Age: 5 * time.Second},
		{Outcome: handler.OutcomeRetry, Reason: "Köln", Ran: true, Run: time.Second},
		{Outcome: handler.OutcomeDeferred, Reason: "breaker", Age: 7 * time.Second},
		{Outcome: handler.OutcomeDuplicate, Age: time.Hour},
	}})
	want := []metrics.Value{
		{Name: "BatchTime", Unit: metrics.Milliseconds},
		{Name: "RunTime", Unit: metrics.Milliseconds, Each: []float64{40, 1000, 3000, 1000}},
		{Name: "OutcomeTime", Unit: metrics.Milliseconds, Each: []float64{2000, 1000, 60000}},
		{Name: "BudgetUsed", Unit: metrics.Count, Each: []float64{2, 8}},
		{Name: "WaitingAge", Unit: metrics.Milliseconds, Each: []float64{5000, 7000}},
		{Name: "RunTime.exhausted", Unit: metrics.Milliseconds, Each: []float64{1000}},
		{Name: "RunTime.timeout", Unit: metrics.Milliseconds, Each: []float64{3000}},
		{Name: "RunTime.other", Unit: metrics.Milliseconds, Each: []float64{1000}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestTimesByReasonAreLimited(t *testing.T) {
	t.Parallel()
	var jobs []handler.JobReport
	for i := range 1000 {
		jobs = append(jobs, handler.JobReport{Outcome: handler.OutcomeDead, Reason: fmt.Sprintf("order_%d", i), Ran: true})
	}
	n := 0
	for _, v := range metrics.Values(handler.Report{Jobs: jobs}) {
		if strings.HasPrefix(v.Name, "RunTime.") {
			n++
		}
	}
	if n != metrics.MaxReasons+1 {
		t.Errorf("%d metrics, want %d and other", n, metrics.MaxReasons)
	}
}
