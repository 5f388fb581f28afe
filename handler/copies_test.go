package handler_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// TestCopiesInOneBatchWaitForTheFirst and learn what became of it.
func TestCopiesInOneBatchWaitForTheFirst(t *testing.T) {
	t.Parallel()
	tests := []struct {
		first   string
		outcome handler.Outcome
		want    string // of the copies
	}{
		{"2s", handler.OutcomeDone, "duplicate"},
		{"2s reset", handler.OutcomeRetry, "busy"},
		{"2s permanent", handler.OutcomeDead, "busy"},
		{"suspect 2s", handler.OutcomeDone, "duplicate"},
		{"suspect 2s reset", handler.OutcomeRetry, "busy"},
	}
	for _, tt := range tests {
		for _, concurrency := range []int{1, 2, 8} {
			for _, group := range []string{"", "one", "each"} {
				inBubble(t, fmt.Sprint(tt.first, concurrency, group), func(t *testing.T) {
					s := newScene()
					s.options.Concurrency = concurrency
					var records []events.SQSMessage
					for i := range 4 {
						r := copyOf("j1", record(fmt.Sprint("m", i), tt.first))
						switch group {
						case "one":
							r = grouped("g", r)
						case "each":
							r = grouped(fmt.Sprint("g", i), r)
						}
						records = append(records, r)
					}
					other := record("other", "1s")
					if group != "" {
						other = grouped("other", other)
					}
					back := s.run(t, append(records, other)...)
					ran := s.runs()
					slices.Sort(ran)
					if len(ran) != 2 || ran[1] != "other" {
						t.Fatalf("ran %v, want one of the copies and the other", ran)
					}
					stopped := group == "one" && tt.outcome == handler.OutcomeRetry
					for i := range 4 {
						id := fmt.Sprint("m", i)
						if id == ran[0] {
							continue
						}
						want := tt.want
						if stopped || group == "one" && tt.outcome == handler.OutcomeDead && i > 1 {
							want = "deferred" // behind a head that failed or is busy
						}
						if got := s.outcomeOf(t, id, "outcome"); got != want {
							t.Errorf("%s: %s, want %s", id, got, want)
						}
						if slices.Contains(back, id) != (want != "duplicate") {
							t.Errorf("%s: reported %v", id, back)
						}
					}
				})
			}
		}
	}
}

// TestCopiesOfWhatIsCutOff come back with it.
func TestCopiesOfWhatIsCutOff(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"1h":      handler.ReasonNoTime,
		"2s boom": handler.ReasonAfterCrash,
	} {
		inBubble(t, body, func(t *testing.T) {
			s := newScene()
			s.timeout = 30 * time.Second
			start := time.Now()
			func() {
				defer func() { _ = recover() }()
				s.run(t, copyOf("j1", record("m1", body)), copyOf("j1", record("m2", body)), copyOf("j1", record("m3", body)))
			}()
			for _, id := range []string{"m2", "m3"} {
				if got := s.outcomeOf(t, id, "reason"); got != want || s.hidden[id] < time.Second {
					t.Errorf("%s: %s, hidden for %v, want %s", id, got, s.hidden[id], want)
				}
			}
			if time.Since(start) > 28*time.Second {
				t.Errorf("took %v", time.Since(start))
			}
		})
	}
}

// Copies of what opened the breaker are deferred without a claim, like all others.
func TestCopiesOfWhatOpensTheBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.options.Concurrency, s.options.Breaker = 4, 2
		s.run(t, record("m1", "1s reset"), copyOf("j1", record("m2", "2s reset")),
			copyOf("j1", record("m3", "2s reset")), record("m4", "2s reset"))
		outcomes := []string{s.outcomeOf(t, "m2", "outcome"), s.outcomeOf(t, "m3", "outcome")}
		slices.Sort(outcomes)
		if diff := cmp.Diff([]string{"deferred", "retry"}, outcomes); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
	})
}

// TestCopiesOnDrain go home at once, though the first still runs.
func TestCopiesOnDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		time.AfterFunc(time.Second, func() { close(s.draining) })
		back := s.run(t, copyOf("j1", record("m1", "5s")), copyOf("j1", record("m2", "5s")))
		if diff := cmp.Diff([]string{"m2"}, back); diff != "" || s.outcomeOf(t, "m2", "reason") != handler.ReasonCancelled {
			t.Errorf("%s; reported (-want +got):\n%s", s.outcomeOf(t, "m2", "reason"), diff)
		}
	})
}

// One message that was received twice in a batch is deleted before a crash only if both
// receives are acknowledged: SQS deletes it with all of its receives.
func TestACrashDeletesNoMessageThatAlsoFailed(t *testing.T) {
	t.Parallel()
	for _, second := range []string{"1s reset", "1s"} {
		inBubble(t, second, func(t *testing.T) {
			s := newScene()
			s.options.Concurrency = 3
			func() {
				defer func() { _ = recover() }()
				_, _ = s.processor().Handle(t.Context(), event(
					copyOf("one", record("m1", "1s")), copyOf("other", record("m1", second)), record("m2", "3s boom")))
			}()
			if deleted := slices.Contains(s.queues.deleted, "m1"); deleted != (second == "1s") {
				t.Errorf("deleted %v; m1 has ended with %q too", s.queues.deleted, second)
			}
		})
	}
}
