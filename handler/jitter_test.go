package handler_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// spread demands that messages come back at different times from low to high.
func (q *queues) spread(t *testing.T, n int, low, high time.Duration) {
	t.Helper()
	times := map[time.Duration]int{}
	for _, d := range q.hidden {
		times[d]++
		if d < low || d > high {
			t.Errorf("one is hidden for %v, want %v to %v", d, low, high)
		}
	}
	if len(q.hidden) != n || len(times) < 5 {
		t.Errorf("%d messages come back at %v", len(q.hidden), times)
	}
}

func TestLettersThatWereNotSentComeBackApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueues()
		q.sendErr = map[string]error{}
		records := many(100, "permanent")
		for _, r := range records {
			q.sendErr[r.MessageId] = errOdd
		}
		o := q.options()
		o.Random = rand.Float64
		o.Ledger = verdicts(58*time.Second, nil) // with the margin for clocks a minute
		handle(t, must(handler.NewProcessor(byBody(script), o)), records...)
		q.spread(t, 100, time.Minute, 72*time.Second)
	})
}

func TestAbandonedMessagesComeBackApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueues()
		o := q.options()
		o.Random = rand.Float64
		release := make(chan struct{})
		h := handler.Func(func(context.Context, *handler.Message) error { <-release; return nil })
		for i := range 40 { // each in a process of its own
			ledger := newLedger(newTrace())
			ledger.lease = 87750 * time.Millisecond // a minute is left when it is left behind
			o.Ledger = ledger
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			crashes(ctx, t, newProcessor(h, o), event(record(fmt.Sprint("m", i), "x")))
			cancel()
		}
		close(release)
		q.spread(t, 40, 62*time.Second, 75*time.Second)
	})
}

func TestAnAnswerThatSaysNothingConfirmsNothing(t *testing.T) {
	t.Parallel()
	q := newQueues()
	o := q.options()
	o.DeadLetter = silent{q}
	o.Ledger = verdicts(time.Minute, func(context.Context, string) error {
		t.Error("confirmed in the ledger")
		return nil
	})
	ids := handle(t, newProcessor(byBody(script), o), record("m1", "permanent"))
	if diff := cmp.Diff([]string{"m1"}, ids); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
	if got := q.logged(t, "dead letter not sent", "error"); !cmp.Equal(got, []string{handler.ErrUnanswered.Error()}) {
		t.Errorf("logged %v", got)
	}
}
