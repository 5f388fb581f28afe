package idem_test

import (
	"context"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// A store that does not answer a claim, such as one behind a dead connection, holds up no
// slot for longer than a write may take, however long the invocation is.
func TestAClaimWithoutAnAnswerEndsInTime(t *testing.T) {
	t.Parallel()
	for name, timeout := range map[string]time.Duration{"worker": 0, "function": 15 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				dead := true
				h.faults.Before = func(ctx context.Context, call idemtest.Call) error {
					if call == idemtest.CallAcquire && dead {
						<-ctx.Done()
						return ctx.Err()
					}
					return nil
				}
				ctx, cancel := context.WithCancel(h.Context())
				if timeout > 0 {
					ctx, cancel = context.WithTimeout(h.Context(), timeout)
				}
				defer cancel()
				start := time.Now()
				h.want(h.deliverIn(ctx, received("m1", "x", 2)), handler.OutcomeRetry, fault.ReasonStore, 0)
				if took := time.Since(start); took > 12*time.Second {
					t.Errorf("took %v", took)
				}
				dead = false
				h.want(h.deliverIn(ctx, received("m1", "x", 3)), handler.OutcomeDone, "", 1)
			})
		})
	}
}

// At its last receive a job is claimed once more after the cut. If the store does not answer, in
// a function of a few seconds there is time to hide the message all the same.
func TestAMessageThatCannotBeClaimedIsHiddenInTime(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{3 * time.Second, 6 * time.Second, 15 * time.Minute} {
		t.Run(timeout.String(), func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				asked := 0
				h.faults.Before = func(ctx context.Context, _ idemtest.Call) error {
					if asked++; asked == 2 { // the release of the first claim
						return errStore
					}
					<-ctx.Done()
					return ctx.Err()
				}
				h.engine.MaxReceives = 3
				queue := &remote{}
				i := h.invoke(1)
				i.Queue = queue
				ctx, cancel := context.WithTimeout(h.Context(), timeout)
				defer cancel()
				i.batchIn(ctx, received("m1", "x", 3))
				if deadline, _ := ctx.Deadline(); queue.hidden != 1 || time.Until(deadline) < 5*roundTrip {
					t.Errorf("%d messages are hidden, with %v left", queue.hidden, time.Until(deadline))
				}
			})
		})
	}
}

// With DeadLetterUnknown a job whose function was called does not run again if nobody
// knows what became of it, whoever is to blame. One whose function was not called does.
func TestAnEffectOfUnknownOutcomeIsNotRepeated(t *testing.T) {
	t.Parallel()
	panics := func(h *harness, before bool) {
		h.engine.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				if before {
					panic("before the function")
				}
				_ = next(ctx, m)
				panic("after the function")
			}
		}}
	}
	tests := map[string]struct {
		prepare func(h *harness)
		stops   time.Duration // when the host stops
		runs    int
		again   bool
	}{
		"middleware panics after it":  {func(h *harness) { panics(h, false) }, 0, 1, false},
		"middleware panics before it": {func(h *harness) { panics(h, true) }, 0, 0, true},
		"middleware hangs after it": {func(h *harness) {
			h.engine.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					err := next(ctx, m)
					<-time.After(time.Hour)
					return err
				}
			}}
		}, 0, 1, false},
		"it ignores the host": {func(h *harness) {
			h.job = func(context.Context, *handler.Message) error { pass(time.Hour); return nil }
		}, time.Second, 1, false},
		"it heeds the host": {func(h *harness) {
			h.job = func(ctx context.Context, _ *handler.Message) error { return until(ctx, time.Hour) }
		}, time.Second, 1, true},
		"it was started late": {func(h *harness) {
			h.engine.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error { pass(20 * time.Second); return next(ctx, m) }
			}}
			h.job = func(context.Context, *handler.Message) error { pass(time.Hour); return nil }
		}, 0, 1, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unknown(t, func(h *harness) {
				h.posts = true
				tt.prepare(h)
				ctx, cancel := context.WithTimeout(h.Context(), invocationTime)
				defer cancel()
				if tt.stops > 0 {
					time.AfterFunc(tt.stops, cancel)
				}
				h.deliverIn(ctx, message("m1", "a"))
				pass(2 * time.Hour)
				h.engine.Middleware, h.job = nil, func(context.Context, *handler.Message) error { return nil }
				r := h.deliver(received("m1", "a", 2))
				if tt.again {
					h.want(r, handler.OutcomeDone, "", tt.runs+1)
				} else {
					h.want(r, handler.OutcomeDead, idem.ReasonUnknownOutcome, tt.runs)
				}
			})
		})
	}
}

// A store that panics while it renews a claim does not end the process: it is tried again.
func TestAPanicOfARenewalIsAnError(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.job = func(ctx context.Context, _ *handler.Message) error { return until(ctx, 3*time.Minute) }
		renewals := 0
		h.faults.Before = func(_ context.Context, call idemtest.Call) error {
			if call == idemtest.CallRenew {
				if renewals++; renewals == 2 {
					panic("in the store")
				}
			}
			return nil
		}
		h.want(h.deliverIn(h.Context(), message("m1", "a")), handler.OutcomeDone, "", 1)
		if renewals < 8 {
			h.Errorf("%d renewals", renewals)
		}
	})
}
