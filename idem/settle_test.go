package idem_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

func TestWhatCannotBeRecordedComesBackAfterItsLease(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.broken("complete")
		r := h.deliver(message("m1", "a"))
		h.want(r, handler.OutcomeUnrecorded, fault.ReasonStore, 1)
		h.within(r.Delay, invocationTime+2*time.Second)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeBusy, idem.ReasonClaimed, 1)
	})
}

func TestAnswersThatAreLostChangeNothing(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.faults.After = func(_ context.Context, c idemtest.Call) error { return errStore }
		h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, fault.ReasonStore, 0)
		pass(time.Hour)
		h.faults.After = func(_ context.Context, c idemtest.Call) error {
			if c == "complete" {
				return errStore
			}
			return nil
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeUnrecorded, fault.ReasonStore, 1)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDuplicate, idem.ReasonCompleted, 1)
	})
}

// overtaken runs the job so slowly that another delivery takes it over and ends
// with the given error, before the first ends with its own.
func overtaken(h *harness, first, other error) *handler.Result {
	h.Helper()
	ctx := h.Context() // without a deadline, as in a worker
	h.options.Lease = time.Minute
	h.broken(idemtest.CallRenew)
	h.job = func(context.Context, *handler.Message) error {
		pass(time.Minute + 2*time.Second)
		h.fails(other)
		h.deliverIn(ctx, message("m2", "a"))
		return first
	}
	return h.deliverIn(ctx, message("m1", "a"))
}

func TestALateFinisherOverwritesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		first, other error
		outcome      handler.Outcome
		reason       string
	}{
		{"done, the other too", nil, nil, handler.OutcomeDone, ""},
		{"done, the other waits to retry", nil, errTimeout, handler.OutcomeUnrecorded, idem.ReasonLate},
		{"done, the other is dead", nil, errCard, handler.OutcomeUnrecorded, idem.ReasonLate},
		{"failed, the other is done", errTimeout, nil, handler.OutcomeDone, idem.ReasonCompleted},
		{"failed, the other too", errTimeout, errTimeout, handler.OutcomeBusy, idem.ReasonLate},
		{"dead, the other is done", errCard, nil, handler.OutcomeDone, idem.ReasonCompleted},
		{"dead, the other waits to retry", errCard, errTimeout, handler.OutcomeBusy, idem.ReasonLate},
		{"dead, the other too", errCard, errCard, handler.OutcomeBusy, idem.ReasonLate},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.options.Key = func(context.Context, *handler.Message) (string, error) { return "k", nil }
				r := overtaken(h, c.first, c.other)
				h.want(r, c.outcome, c.reason, 2)
				if len(h.letters) > 0 {
					h.Fatal("a letter was sent without a verdict")
				}
				var late *idem.LateError
				if reported := r.Outcome != handler.OutcomeDone; reported != errors.As(r.Err, &late) {
					h.Fatalf("error is %v, want a LateError where the job is reported", r.Err)
				}
			})
		})
	}
}

func TestAReleaseThatFailsLeavesTheClaimToLapse(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.fails(errTimeout)
		h.broken("release")
		h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, "provider", 1)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeBusy, idem.ReasonClaimed, 1)
	})
}

func TestACancelledJobIsStillRecorded(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		ctx, cancel := context.WithCancel(h.Context())
		h.job = func(context.Context, *handler.Message) error {
			cancel()
			return nil
		}
		h.want(h.deliverIn(ctx, message("m1", "a")), handler.OutcomeDone, "", 1)
	})
}

func TestAJobThatWasCutOffIsGivenBackUntouched(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		ctx, cancel := context.WithCancel(h.Context())
		h.job = func(ctx context.Context, _ *handler.Message) error {
			cancel()
			return ctx.Err()
		}
		h.want(h.deliverIn(ctx, message("m1", "a")), handler.OutcomeDeferred, handler.ReasonCancelled, 1)
		h.job = func(_ context.Context, m *handler.Message) error {
			if m.Job.Attempts != 0 || m.Job.History.Len() != 0 {
				h.Errorf("job is %+v, want it untouched", m.Job)
			}
			return nil
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
	})
}

func TestNothingStartsWithoutTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		ends   time.Duration
		reason string
		asked  int
	}{
		{"the invocation is over", -time.Second, handler.ReasonNoTime, 0},
		{"the invocation ends now", 0, handler.ReasonNoTime, 0},
		{"there is time", time.Second, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				ctx, cancel := context.WithDeadline(h.Context(), time.Now().Add(c.ends))
				defer cancel()
				outcome := handler.OutcomeDeferred
				if c.asked > 0 {
					outcome = handler.OutcomeDone
				}
				h.want(h.deliverIn(ctx, message("m1", "a")), outcome, c.reason, c.asked)
				if len(h.requests) != c.asked {
					h.Fatalf("the store was asked %d times, want %d", len(h.requests), c.asked)
				}
			})
		})
	}
}

func TestASlowAnswerStartsNothing(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(cancel func()){
		handler.ReasonCancelled: func(cancel func()) { cancel() },
		handler.ReasonNoTime:    func(func()) { pass(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.options.Lease = time.Minute
				ctx, cancel := context.WithCancel(h.Context())
				defer cancel()
				h.faults.After = func(_ context.Context, c idemtest.Call) error {
					if c == idemtest.CallAcquire {
						after(cancel)
					}
					return nil
				}
				r := h.deliverIn(ctx, message("m1", "a"))
				if lapsed := r.Outcome == handler.OutcomeBusy && name == handler.ReasonNoTime; !lapsed {
					h.want(r, handler.OutcomeDeferred, name, 0)
				}
				h.faults.After = nil
				h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
			})
		})
	}
}

// A claim whose answer did not come may have been made all the same. It is given back,
// so that the next delivery has the job at once, and it counts for nothing.
func TestAClaimWithoutAnAnswerIsGivenBack(t *testing.T) {
	t.Parallel()
	unanswered := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for _, c := range []struct {
		name    string
		hang    func(ctx context.Context) error
		outcome handler.Outcome
		reason  string
	}{
		{"until the cut", unanswered, handler.OutcomeDeferred, handler.ReasonNoTime},
		{"until the client gave up", func(context.Context) error {
			return fmt.Errorf("Client.Timeout exceeded while awaiting headers: %w", context.DeadlineExceeded)
		}, handler.OutcomeRetry, fault.ReasonStore},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				asked := 0
				h.faults.After = func(ctx context.Context, call idemtest.Call) error {
					if asked++; call == idemtest.CallAcquire && asked == 1 {
						return c.hang(ctx)
					}
					return nil
				}
				ctx, cancel := context.WithTimeout(h.Context(), 10*time.Second)
				defer cancel()
				h.want(h.deliverIn(ctx, message("m1", "a")), c.outcome, c.reason, 0)
				h.asks("2 acquire", "abort")
				h.job = func(_ context.Context, m *handler.Message) error {
					if m.Job.Crashes != 0 || m.Job.Attempts != 0 {
						h.Errorf("job is %+v, want it untouched", m.Job)
					}
					return nil
				}
				h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
				h.asks("2 acquire", "abort", "acquire", "complete")
			})
		})
	}
}

// A claim that did not arrive is none to give back, and one that is another's is left
// alone.
func TestAClaimThatWasNotMadeIsNotGivenBack(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.broken("complete")
		h.deliver(message("m1", "a")) // keeps its claim
		h.faults.Before = func(ctx context.Context, call idemtest.Call) error {
			if len(h.requests) == 2 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		ctx, cancel := context.WithTimeout(h.Context(), 10*time.Second)
		defer cancel()
		h.want(h.deliverIn(ctx, message("m1", "a")), handler.OutcomeDeferred, handler.ReasonNoTime, 1)
		h.asks("acquire", "complete", "2 acquire")
	})
}

func TestACallThatIsCutOffIsNotTheStoresFault(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		ctx, cancel := context.WithCancel(h.Context())
		h.faults.Before = func(ctx context.Context, _ idemtest.Call) error {
			cancel()
			return ctx.Err()
		}
		h.want(h.deliverIn(ctx, message("m1", "a")), handler.OutcomeDeferred, handler.ReasonCancelled, 0)
	})
}

func TestAResultOfTheUsersKeepsTheBudget(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.fails(errTimeout)
		h.deliver(message("m1", "a"))
		pass(time.Hour)
		h.fails(&handler.Result{Outcome: handler.OutcomeRetry, Delay: time.Minute})
		h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, "", 2)
		pass(time.Hour)
		h.fails(&handler.Result{Outcome: handler.OutcomeDead})
		r := h.deliver(message("m1", "a"))
		h.want(r, handler.OutcomeDead, "", 3)
		if r.Job.Attempts != 1 || r.Failure == nil || !r.Failure.Verdict {
			h.Fatalf("result is %+v, want one attempt and a failure", r)
		}
	})
}

func TestADuplicateThatTheJobFoundIsDone(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.fails(&handler.Result{Outcome: handler.OutcomeDuplicate})
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDuplicate, "", 1)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDuplicate, idem.ReasonCompleted, 1)
	})
}

func TestAWriteThatHangsEndsInTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		call    idemtest.Call
		err     error
		bounded bool
		within  time.Duration
	}{
		// The reserve begins at 27 s, and half of it is for writes to the ledger.
		{"complete", nil, true, 28500 * time.Millisecond},
		{"complete", nil, false, 10 * time.Second},
		// A crash leaves 5 s, and half of what follows.
		{"crash", &handler.PanicError{Value: "boom"}, true, 17500 * time.Millisecond},
		{"crash", &handler.PanicError{Value: "boom"}, false, 10 * time.Second},
	} {
		scenario(t, func(h *harness) {
			h.faults.Before = func(ctx context.Context, call idemtest.Call) error {
				if call != c.call {
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}
			h.fails(c.err)
			begin := time.Now()
			if c.bounded {
				h.invoke(1).batch(message("m1", "a"))
			} else {
				h.invoke(1).batchIn(h.Context(), message("m1", "a"))
			}
			if took := time.Since(begin); took != c.within {
				h.Errorf("%s took %v, want %v", c.call, took, c.within)
			}
		})
	}
}

func TestACopyNeverComesBackAtOnce(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.broken("complete")
		h.deliver(message("m1", "a"))
		pass(invocationTime + 2*time.Second - time.Millisecond)
		busy := h.deliver(message("m1", "a"))
		h.want(busy, handler.OutcomeBusy, idem.ReasonClaimed, 1)
		h.within(busy.Delay, time.Second)
	})
}

// A table that hangs when the time for jobs is over costs the message its record, and
// not the process its life.
func TestAWriteThatHangsAtTheCutIsNoCrash(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.faults.Before = func(ctx context.Context, call idemtest.Call) error {
			if call == idemtest.CallAcquire {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		h.job = func(ctx context.Context, _ *handler.Message) error { return until(ctx, time.Hour) }
		begin := time.Now()
		i := h.invoke(1).batch(message("m1", "a"))
		i.ended("m1", handler.OutcomeRetry, "deadline")
		if took := time.Since(begin); i.crashed || took >= invocationTime {
			h.Errorf("crashed %v after %v; want m1 reported in time", i.crashed, took)
		}
	})
}
