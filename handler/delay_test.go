package handler_test

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// resolved is what an error means for a job that the ledger knows.
func resolved(t *testing.T, receives int, job handler.Job, err error, o *handler.Options) (r *handler.Result) {
	t.Helper()
	q := newQueues()
	if o == nil {
		o = q.options()
	}
	ledger := newLedger(newTrace())
	ledger.job = job
	ledger.settled = func(_ *handler.Message, e handler.Ending) *handler.Result { r = e.Result; return nil }
	o.Ledger = ledger
	handle(t, newProcessor(handler.Func(fails(err)), o), received(receives, record("m1", "x")))
	return r
}

func TestTheDelayThatAnErrorNamesOnlyLengthensIt(t *testing.T) {
	t.Parallel()
	for named, want := range map[time.Duration]time.Duration{
		2 * time.Second:  18 * time.Second, // 16 s and a tenth, rounded
		16 * time.Second: 18 * time.Second,
		40 * time.Second: 44 * time.Second,
	} {
		got := resolved(t, 5, handler.Job{Attempts: 4}, fault.RetryAfter(named, errOdd, fault.WithReason("busy")), nil)
		if got.Delay != want {
			t.Errorf("named %v at the fifth attempt: delay %v, want %v", named, got.Delay, want)
		}
	}
}

func TestWithALedgerTheDelayGrowsWithTheAttempts(t *testing.T) {
	t.Parallel()
	job := handler.Job{Key: "k", Attempts: 1}
	if got := resolved(t, 7, job, syscall.ECONNRESET, nil); got.Delay != 2*time.Second || got.Job.Attempts != 2 {
		t.Errorf("delay %v after %d attempts, want 2 s after 2", got.Delay, got.Job.Attempts)
	}
	// What costs nothing has only its receives to grow with.
	o := newQueues().options()
	o.BackoffByReason = map[string]handler.Backoff{fault.ReasonEnvironment: backoff.Exponential{}}
	err := fault.Retryable(errOdd, fault.WithReason(fault.ReasonEnvironment))
	if got := resolved(t, 5, job, err, o); got.Delay != 18*time.Second || got.Job.Attempts != 1 {
		t.Errorf("delay %v after %d attempts, want 18 s after 1", got.Delay, got.Job.Attempts)
	}
}

// SQS counts the twelve hours from the receive, and refuses more.
func TestADelayIsCutByTheAgeThatTheMessageHasWhenItIsHidden(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueues()
		h := byBody(map[string]func(context.Context, *handler.Message) error{
			"long":    fails(fault.RetryAfter(20*time.Hour, errOdd)),
			"minutes": takes(10 * time.Minute),
		})
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
		defer cancel()
		p := newProcessor(h, q.options())
		if _, err := p.Handle(ctx, event(record("m1", "long"), record("m2", "minutes"))); err != nil {
			t.Fatal(err)
		}
		const most = 12*time.Hour - 10*time.Minute
		if got := q.hidden["m1"]; got > most || got < most-time.Minute {
			t.Errorf("hidden for %v ten minutes after the receive, want %v at most", got, most)
		}
	})
}

func TestTheEvidenceBeginsWithTheFirstFailure(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	history := handler.History{}.Append(handler.Attempt{Number: 1, End: handler.NewTimestamp(first)})
	job := handler.Job{Key: "k", History: history}
	f := resolved(t, 2, job, fault.Permanent(errOdd), nil).Failure
	if !f.First.Equal(first) || !f.Last.After(first) {
		t.Errorf("first failure %v, last %v, want the first of the history, %v", f.First, f.Last, first)
	}
}

func TestAJobThatIsNotRunMayBeDropped(t *testing.T) {
	t.Parallel()
	for _, unwanted := range []bool{false, true} {
		inBubble(t, map[bool]string{false: "wanted", true: "dropped"}[unwanted], func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives = 30*time.Second, 10
			if unwanted {
				s.options.Drop = []string{handler.ReasonMaxReceives}
			}
			// The second is cut off at its begin, and the last has no time.
			s.run(t, received(10, record("m1", "26900ms")), received(10, record("m2", "10s")), received(10, record("m3", "x")))
			want := map[bool]string{false: "dead", true: "dropped"}[unwanted]
			for _, id := range []string{"m2", "m3"} {
				got := s.outcomeOf(t, id, "outcome")
				if got != want || slices.Contains(s.dead(), id) == unwanted {
					t.Errorf("%s: outcome %q, letters %v; want %s", id, got, s.dead(), want)
				}
			}
			if diff := cmp.Diff([]string{"m1", "m2"}, s.runs()); diff != "" {
				t.Errorf("ran (-want +got):\n%s", diff)
			}
		})
	}
}
