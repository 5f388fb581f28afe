package idem_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

func TestADroppedJobIsDeadWithoutALetter(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.fails(errCard)
		h.posts = true
		i := h.invoke(1)
		i.Drop = []string{"card"}
		i.batch(message("m1", "a"))
		if r := i.ended("m1", handler.OutcomeDropped, "card"); len(h.letters) > 0 {
			h.Errorf("result is %+v with letters %q, want none", r, h.letters)
		}
		if s := h.settlements[0]; s.Kind != idem.SettleVerdict || s.DeadLetterID != idem.DroppedLetter {
			h.Errorf("settlement is %+v, want a confirmed verdict", s)
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDuplicate, idem.ReasonDeadBefore, 1)
		h.asks("acquire", "verdict", "acquire")
	})
}

func TestAJobThatCannotBeDroppedComesBack(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.fails(errCard)
		h.broken("verdict")
		i := h.invoke(1)
		i.Drop = []string{"card"}
		i.batch(message("m1", "a")).ended("m1", handler.OutcomeRetry, "idempotency_store")
	})
}

func TestACrashLoopMayBeDropped(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.job = explode
		h.crash("m1")
		h.crash("m1")
		i := h.invoke(1)
		i.Drop = []string{idem.ReasonCrashLoop}
		i.batch(message("m1", "a")).ended("m1", handler.OutcomeDropped, idem.ReasonCrashLoop)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDuplicate, idem.ReasonDeadBefore, 2)
	})
}

// TestLastReceiveDeadLettersTheJob has the ways in which a claimed job is not
// run to its end.
func TestLastReceiveDeadLettersTheJob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		// fails, given what ends the invocation's context, breaks the store.
		fails func(cancel func()) func(context.Context, idemtest.Call) error
		job   func(cancel func()) handler.Func
		text  string
	}{
		{"no time after the claim", func(func()) func(context.Context, idemtest.Call) error {
			return after(idemtest.CallAcquire, func() { pass(27500 * time.Millisecond) })
		}, nil, "not run at its last receive (no_time)"},
		{"cancelled after the claim", func(cancel func()) func(context.Context, idemtest.Call) error {
			return after(idemtest.CallAcquire, cancel)
		}, nil, "not run at its last receive (cancelled)"},
		{"cut off", nil, func(cancel func()) handler.Func {
			return func(ctx context.Context, _ *handler.Message) error { cancel(); return ctx.Err() }
		}, "cut off at its last receive (cancelled)"},
	} {
		for receives, want := range map[int]handler.Outcome{4: handler.OutcomeDeferred, 5: handler.OutcomeDead} {
			t.Run(c.name+", "+want.String(), func(t *testing.T) {
				t.Parallel()
				scenario(t, func(h *harness) {
					ctx, cancel := context.WithTimeout(h.Context(), invocationTime)
					defer cancel()
					h.posts = true
					i := h.invoke(1)
					i.MaxReceives = 5
					if c.fails != nil {
						h.faults.After = c.fails(cancel)
					}
					if c.job != nil {
						i.job = c.job(cancel)
					}
					i.batchIn(ctx, received("m1", "a", receives))
					r := i.result("m1")
					if r.Outcome != want {
						h.Fatalf("outcome is %s (%s): %v; want %s", r.Outcome, r.Decision.Reason, r.Err, want)
					}
					if want == handler.OutcomeDeferred {
						h.asks("acquire", "abort")
						return
					}
					f := r.Failure
					if !f.Verdict || !strings.Contains(f.Message, c.text) || f.Reason != handler.ReasonMaxReceives {
						h.Errorf("failure is %+v, want a verdict that says %q", f, c.text)
					}
					h.asks("acquire", "verdict", "send", "confirm")
				})
			})
		}
	}
}

// after does something behind a call.
func after(call idemtest.Call, do func()) func(context.Context, idemtest.Call) error {
	return func(_ context.Context, c idemtest.Call) error {
		if c == call {
			do()
		}
		return nil
	}
}

// A job at its last receive ran until its claim was lost: because the store was away,
// or to another delivery. Who still is its owner buries it, so that the dead letter has
// its record.
func TestLostJobAtLastReceiveIsDeadLetteredByItsOwnerOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lose    func(h *harness)
		outcome handler.Outcome
		reason  string
		letters int
	}{
		"nobody has it": {func(h *harness) {
			h.down(10*time.Second, 2*time.Minute, false)
		}, handler.OutcomeDead, handler.ReasonMaxReceives, 1},
		"another has it": {func(h *harness) { h.steal(errTimeout) }, handler.OutcomeBusy, idem.ReasonLate, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.posts = true
				c.lose(h)
				i := h.invoke(1)
				i.MaxReceives = 3
				i.job = func(ctx context.Context, _ *handler.Message) error {
					_ = until(ctx, time.Hour)
					pass(time.Minute)
					return ctx.Err()
				}
				i.batchIn(h.Context(), received("m1", "a", 3)).ended("m1", c.outcome, c.reason)
				if len(h.letters) != c.letters {
					h.Errorf("letters are %q, want %d", h.letters, c.letters)
				}
			})
		})
	}
}

func TestAPanicOfAGoroutineIsMarked(t *testing.T) {
	t.Parallel()
	for name, job := range map[string]handler.Func{
		"the job succeeds": func(ctx context.Context, _ *handler.Message) error {
			handler.Go(ctx, func(context.Context) error { panic("boom") })
			return nil
		},
		"the job fails": func(ctx context.Context, _ *handler.Message) error {
			handler.Go(ctx, func(context.Context) error { panic("boom") })
			return errors.New("odd")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				for range 2 {
					i := h.invoke(1)
					i.job = job
					if !i.batch(message("m1", "a")).crashed {
						h.Fatal("the process does not end")
					}
					mark := h.settlements[len(h.settlements)-1]
					if mark.Kind != idem.SettleCrash || !strings.Contains(mark.CrashStack, "idem_test") {
						h.Fatalf("settlement is %+v, want a crash with the goroutine's stack", mark)
					}
				}
				h.invoke(1).batch(message("m1", "a")).ended("m1", handler.OutcomeDead, idem.ReasonCrashLoop)
			})
		})
	}
}

func TestAPanicMayBeThatOfTheJobAlone(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		i := h.invoke(1)
		i.job, i.PanicAsPermanent = explode, true
		h.posts = true
		i.batch(message("m1", "a"), message("m2", "a"))
		r := i.ended("m1", handler.OutcomeDead, handler.ReasonPanic)
		if i.crashed || !r.Failure.Verdict || !strings.Contains(r.Failure.Stack, "idem_test.explode") {
			h.Errorf("crashed: %v, failure %+v; want a verdict with the stack", i.crashed, r.Failure)
		}
		i.ended("m2", handler.OutcomeDead, handler.ReasonPanic)
		slices.Sort(h.calls)
		h.calls = slices.Compact(h.calls) // the letters may go out together
		h.asks("acquire", "confirm", "send", "verdict")
		if len(h.settlements) != 4 || len(h.letters) != 2 {
			h.Errorf("%d settlements, letters %q; want two verdicts, confirmed", len(h.settlements), h.letters)
		}
	})
}
