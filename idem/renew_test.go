package idem_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// work delivers "m1" without a deadline.
func (h *harness) work() *handler.Result {
	h.Helper()
	return h.deliverIn(h.Context(), message("m1", "a"))
}

// down makes the store fail from one time of the scenario to another. The error
// of a call that is told to hang is that of its context.
func (h *harness) down(from, to time.Duration, hang bool) {
	begin := time.Now()
	h.faults.Before = func(ctx context.Context, _ idemtest.Call) error {
		if at := time.Since(begin); at < from || at >= to {
			return nil
		}
		if hang {
			<-ctx.Done()
			return ctx.Err()
		}
		return errStore
	}
}

// asks demands the calls of the store so far, where n renewals in a row read
// "n renew".
func (h *harness) asks(want ...string) {
	h.Helper()
	var got []string
	for run := range chunks(h.calls) {
		if len(run) > 1 || run[0] == "renew" {
			got = append(got, fmt.Sprintf("%d %s", len(run), run[0]))
		} else {
			got = append(got, run[0])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		h.Fatalf("calls differ (-want +got):\n%s", diff)
	}
}

// chunks gives the runs of equal calls.
func chunks(calls []string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		for len(calls) > 0 {
			n := slices.IndexFunc(calls, func(c string) bool { return c != calls[0] })
			if n < 0 {
				n = len(calls)
			}
			if !yield(calls[:n]) {
				return
			}
			calls = calls[n:]
		}
	}
}

// until gives the cause of its context's end, or nil once the time has passed.
func until(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// copied is another process on the same store, whose calls are not recorded.
func (h *harness) copied() *harness {
	other := newHarness(h.T)
	other.faults.Store, other.runs = h.faults.Store, h.runs
	return other
}

func TestALongJobStaysOwned(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.job = func(ctx context.Context, _ *handler.Message) error {
			for range 599 {
				if err := until(ctx, time.Second); err != nil {
					return err
				}
				r := h.copied().work()
				h.want(r, handler.OutcomeBusy, idem.ReasonClaimed, 1)
				if r.Delay > 75*time.Second {
					h.Fatalf("the copy comes back after %v, want about a lease at most", r.Delay)
				}
			}
			return until(ctx, time.Second/2)
		}
		h.want(h.work(), handler.OutcomeDone, "", 1)
		h.asks("acquire", "29 renew", "complete")
		pass(time.Hour)
		h.asks("acquire", "29 renew", "complete")
	})
}

// A claim whose answer came late has less than its lease left.
func TestAClaimWithALateAnswerIsRenewedInTime(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{30 * time.Second, 45 * time.Second, 58 * time.Second} {
		scenario(t, func(h *harness) {
			h.faults.After = after(idemtest.CallAcquire, func() { pass(late) })
			h.job = func(ctx context.Context, _ *handler.Message) error { return until(ctx, 2*time.Minute) }
			h.want(h.work(), handler.OutcomeDone, "", 1)
		})
	}
}

func TestAShortJobIsNotRenewed(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.job = func(ctx context.Context, _ *handler.Message) error { return until(ctx, 20*time.Second-1) }
		h.want(h.work(), handler.OutcomeDone, "", 1)
		h.asks("acquire", "complete")
	})
}

func TestAnInvocationWithADeadlineIsNotRenewed(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Lease = time.Second
		h.job = func(ctx context.Context, _ *handler.Message) error { return until(ctx, 20*time.Second) }
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
		h.asks("acquire", "complete")
	})
}

func TestRenewingEndsBeforeTheOutcomeIsWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		write string
	}{
		{nil, "complete"},
		{errTimeout, "release"},
		{errCard, "verdict"},
		{&handler.Result{Outcome: handler.OutcomeDeferred}, "abort"},
		{&handler.PanicError{Value: "boom"}, "crash"},
	} {
		t.Run(c.write, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.job = func(ctx context.Context, _ *handler.Message) error {
					_ = until(ctx, 50*time.Second)
					return c.err
				}
				h.invoke(1).batchIn(h.Context(), message("m1", "a"))
				pass(time.Hour)
				h.asks("acquire", "2 renew", c.write)
			})
		})
	}
}

func TestRenewingEndsBeforeAPanicIsMarked(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.faults.Before = func(_ context.Context, call idemtest.Call) error {
			if call == "crash" {
				pass(400 * time.Millisecond)
			}
			return nil
		}
		h.job = func(ctx context.Context, m *handler.Message) error {
			_ = until(ctx, 60*time.Second-200*time.Millisecond)
			return explode(ctx, m)
		}
		h.invoke(1).batchIn(h.Context(), message("m1", "a"))
		pass(time.Hour)
		h.asks("acquire", "2 renew", "crash")
	})
}

func TestARenewalUnderWayIsEndedAndAwaited(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		begin, ended := time.Now(), false
		h.faults.Before = func(ctx context.Context, call idemtest.Call) error {
			switch {
			case call == idemtest.CallRenew:
				<-ctx.Done()
				ended = true
				return ctx.Err()
			case call == "complete" && !ended:
				h.Error("the outcome was written beside a renewal")
			}
			return nil
		}
		h.job = func(ctx context.Context, _ *handler.Message) error { return until(ctx, 25*time.Second) }
		h.want(h.work(), handler.OutcomeDone, "", 1)
		if took := time.Since(begin); took != 25*time.Second {
			h.Errorf("the delivery took %v, want no longer than its job", took)
		}
		h.asks("acquire", "1 renew", "complete")
	})
}

func TestAStoreThatIsAwayForAWhileIsSurvived(t *testing.T) {
	t.Parallel()
	for _, hang := range []bool{false, true} {
		for from := 2 * time.Second; from < time.Minute; from += 7 * time.Second {
			scenario(t, func(h *harness) {
				h.down(from, from+25*time.Second, hang)
				h.job = func(ctx context.Context, _ *handler.Message) error { return until(ctx, 5*time.Minute) }
				h.want(h.work(), handler.OutcomeDone, "", 1)
			})
		}
	}
}

func TestRenewalsWhoseAnswersAreLostAreMadeAgain(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		begin := time.Now()
		h.faults.After = func(_ context.Context, call idemtest.Call) error {
			if at := time.Since(begin); call == idemtest.CallRenew && at > 50*time.Second && at < 67*time.Second {
				return errStore
			}
			return nil
		}
		h.job = func(ctx context.Context, _ *handler.Message) error { return until(ctx, 149*time.Second) }
		h.want(h.work(), handler.OutcomeDone, "", 1)
		// At 20, 40, three times in vain at 60 to 70, and on from there.
		h.asks("acquire", "8 renew", "complete")
	})
}

func TestAStoreThatIsAwayForALeaseEndsTheJob(t *testing.T) {
	t.Parallel()
	for name, hang := range map[string]bool{"it refuses": false, "it hangs": true} {
		for stays, back := range map[string]time.Duration{" and stays away": time.Hour, " and is back": 90 * time.Second} {
			t.Run(name+stays, func(t *testing.T) {
				t.Parallel()
				scenario(t, func(h *harness) {
					begin := time.Now()
					h.down(30*time.Second, back, hang)
					h.job = func(ctx context.Context, _ *handler.Message) error {
						err := until(ctx, time.Hour)
						// The last renewal was at 20 s.
						if at := time.Since(begin); at != 80*time.Second {
							h.Errorf("the job's context ended after %v, want 80s", at)
						}
						pass(15 * time.Second)
						return err
					}
					r := h.work()
					h.want(r, handler.OutcomeBusy, idem.ReasonLate, 1)
					var lost *idem.LostError
					if !errors.As(r.Err, &lost) || lost.ID != "charges#m1" || lost.Err == nil {
						h.Fatalf("error is %v, want a LostError with the store's", r.Err)
					}
					if r.Delay < time.Second || r.Job.Attempts != 0 {
						h.Fatalf("result is %+v, want it back after a second at no cost", r)
					}
				})
			})
		}
	}
}

func TestALostClaimEndsTheJob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		other   error                       // what the other delivery ends with
		ends    func(context.Context) error // what the job ends with
		outcome handler.Outcome
		reason  string
	}{
		{"the other waits to retry", errTimeout, context.Context.Err, handler.OutcomeBusy, idem.ReasonLate},
		{"by the cause", errTimeout, context.Cause, handler.OutcomeBusy, idem.ReasonLate},
		{"the other is dead", errCard, context.Context.Err, handler.OutcomeBusy, idem.ReasonLate},
		{"the other is done", nil, context.Context.Err, handler.OutcomeDone, idem.ReasonCompleted},
		{"done all the same", errTimeout, nothing, handler.OutcomeUnrecorded, idem.ReasonLate},
		{"both are done", nil, nothing, handler.OutcomeDone, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				stolen := h.steal(c.other)
				h.job = func(ctx context.Context, _ *handler.Message) error {
					cause := until(ctx, time.Hour)
					var late *idem.LateError
					if !errors.As(cause, &late) || late.Kind != idem.SettleRenew || !errors.Is(cause, context.Canceled) {
						h.Errorf("cause is %v, want a cancellation by a LateError", cause)
					}
					return c.ends(ctx)
				}
				h.want(h.work(), c.outcome, c.reason, 1)
				if left := <-stolen; left != h.state() {
					h.Errorf("the job stands at %s, want %s as the other left it", h.state(), left)
				}
			})
		})
	}
}

func nothing(context.Context) error { return nil }

// steal takes the job's claim over, as only a clock that is far ahead can, and
// lets the other delivery end with err. It gives what the store then holds.
func (h *harness) steal(err error) <-chan string {
	left := make(chan string, 1)
	go func() {
		pass(30 * time.Second)
		r := h.requests[0]
		r.Owner, r.Now, r.Lease = "another", r.Now.Add(time.Hour), r.Lease.Add(time.Hour)
		answer, _ := h.faults.Store.Acquire(h.Context(), r)
		s := idem.Settlement{Kind: idem.SettleComplete, Expires: r.Expires, Lease: r.Now, DeadAt: r.Now}
		switch {
		case errors.Is(err, errCard):
			s.Kind = idem.SettleVerdict
		case err != nil:
			s.Kind = idem.SettleRelease
		}
		if err := h.faults.Store.Settle(h.Context(), answer.Claim, s); err != nil {
			h.Errorf("settle: %v", err)
		}
		left <- h.state()
	}()
	return left
}

// state tells what an early copy of the job is told.
func (h *harness) state() string {
	r := h.requests[0]
	r.Owner = "a copy"
	answer, err := h.faults.Store.Acquire(h.Context(), r)
	return fmt.Sprint(answer.Kind, answer.Status, answer.Until, err)
}

// A process that is told to stop does not wait for a job that ignores its
// cancellation: what is left of its lease keeps others away.
func TestAJobThatIsLeftBehindKeepsItsLease(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		ctx, cancel := context.WithCancel(h.Context())
		over := make(chan struct{})
		defer close(over)
		h.job = func(context.Context, *handler.Message) error {
			pass(30 * time.Second)
			cancel()
			<-over
			return nil
		}
		h.want(h.deliverIn(ctx, message("m1", "a")), handler.OutcomeDeferred, handler.ReasonCancelled, 1)
		if abort, want := h.lastSettlement(), h.requests[0].Now.Add(82*time.Second); !abort.Lease.Equal(want) {
			h.Errorf("%s until %v, want the lease that was renewed after 20 s, %v", abort.Kind, abort.Lease, want)
		}
		pass(time.Hour)
		h.asks("acquire", "1 renew", "abort")
	})
}

// A renewal whose answer was lost may have been written. What a process leaves behind does
// not end that lease before its time.
func TestAJobThatIsLeftBehindKeepsALeaseThatItMayHave(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.faults.After = func(_ context.Context, call idemtest.Call) error {
			if call == idemtest.CallRenew {
				return errStore
			}
			return nil
		}
		ctx, cancel := context.WithCancel(h.Context())
		over := make(chan struct{})
		defer close(over)
		h.job = func(context.Context, *handler.Message) error {
			pass(22 * time.Second)
			cancel()
			<-over
			return nil
		}
		h.want(h.deliverIn(ctx, message("m1", "a")), handler.OutcomeDeferred, handler.ReasonCancelled, 1)
		if abort, want := h.lastSettlement(), h.requests[0].Now.Add(82*time.Second); !abort.Lease.Equal(want) {
			h.Errorf("%s until %v, want the lease that was asked for after 20 s, %v", abort.Kind, abort.Lease, want)
		}
	})
}

func TestAFunctionThatIgnoresItsCancellationIsProtectedAgain(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.down(10*time.Second, 70*time.Second, false)
		h.job = func(context.Context, *handler.Message) error {
			pass(3 * time.Minute)
			h.want(h.copied().work(), handler.OutcomeBusy, idem.ReasonClaimed, 1)
			return nil
		}
		h.want(h.work(), handler.OutcomeDone, "", 1)
	})
}

func TestAVerdictWaitsForItsBatch(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.fails(errCard)
		r := h.work()
		h.want(r, handler.OutcomeDead, "card", 1)
		if left := time.Until(h.lastSettlement().Lease); left != 5*time.Minute+2*time.Second {
			h.Fatalf("the letter can be sent for %v, want five minutes and the margin", left)
		}
	})
}

func TestTheProcessorReportsALostClaim(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.down(10*time.Second, time.Hour, false)
		h.job = func(ctx context.Context, _ *handler.Message) error { return until(ctx, time.Hour) }
		i := h.invoke(1)
		i.job = h.job
		response, err := i.processor().Handle(h.Context(), event(message("m1", "a")))
		if err != nil || len(response.BatchItemFailures) != 1 {
			h.Fatalf("response is %v, %v; want m1 reported", response, err)
		}
	})
}

func TestLostErrorTellsWhy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, `the claim on "charges#m1" has lapsed`},
		{errStore, `the claim on "charges#m1" is lost: no such table`},
	} {
		lost := &idem.LostError{ID: "charges#m1", Err: c.err}
		if !strings.HasSuffix(lost.Error(), c.want) || !errors.Is(errors.Unwrap(lost), c.err) {
			t.Errorf("error is %q, want %q", lost, c.want)
		}
		if !errors.Is(lost, context.Canceled) || errors.Is(lost, context.DeadlineExceeded) {
			t.Errorf("%q is not a cancellation and nothing else", lost)
		}
	}
}
