package idem_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// A package's sentinel, which all jobs return, is not theirs to write in.
func TestASharedResultStaysAsItIs(t *testing.T) {
	t.Parallel()
	for name, shared := range map[string]handler.Result{
		"retry": {Outcome: handler.OutcomeRetry, Delay: 5 * time.Second},
		"busy":  {Outcome: handler.OutcomeBusy, Delay: 5 * time.Second},
		"dead": {
			Outcome: handler.OutcomeDead, Err: errCard, Failure: &handler.Failure{Reason: "card"},
		},
		"dead without evidence": {Outcome: handler.OutcomeDead, Err: errCard},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			h.fails(&shared)
			var messages []*handler.Message
			for n := range 50 {
				messages = append(messages, message(fmt.Sprint("m", n), "a"))
			}
			h.posts = true
			if i := h.invoke(8).batch(messages...); i.crashed || len(i.results) != 50 {
				t.Errorf("crashed %v, %d results", i.crashed, len(i.results))
			}
			if shared.Job.Key != "" || !shared.Until.IsZero() {
				t.Errorf("the shared Result is %+v", shared)
			}
			if f := shared.Failure; f != nil && (f.Key != "" || f.Verdict) {
				t.Errorf("its failure is %+v", f)
			}
		})
	}
}

func TestASharedResultCarriesNoBudget(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		shared := &handler.Result{Outcome: handler.OutcomeRetry, Delay: time.Second}
		var runs atomic.Int32
		h.job = func(context.Context, *handler.Message) error {
			if runs.Add(1)%2 == 1 {
				return shared
			}
			return fault.Retryable(errTimeout)
		}
		for n := 1; n <= 6; n++ {
			i := h.invoke(1)
			i.Backoff = backoff.Constant{Interval: time.Second, MaxAttempts: 3}
			r := i.batch(received("m1", "a", n)).result("m1")
			if dead := r.Outcome == handler.OutcomeDead; dead != (n == 6) {
				t.Fatalf("run %d ends as %s, want the death of the third failure that costs", n, r.Outcome)
			}
			pass(time.Minute)
		}
	})
}
