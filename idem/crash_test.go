package idem_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

func explode(context.Context, *handler.Message) error { panic("out of range") }

// crash delivers a message whose job panics, and gives what its process ends with.
func (h *harness) crash(id string) string {
	h.Helper()
	i := h.invoke(1).batch(message(id, "a"))
	if !i.crashed {
		h.Fatalf("the process goes on after %s", id)
	}
	return i.panic
}

// abandon delivers a message whose job ignores its cancellation.
func (h *harness) abandon(id string) {
	h.Helper()
	over := make(chan struct{})
	defer close(over)
	h.job = func(context.Context, *handler.Message) error { <-over; return nil }
	if i := h.invoke(1).batch(message(id, "a")); !i.crashed {
		h.Fatalf("the process goes on after %s", id)
	}
}

func TestAPanicIsMarkedAndGoesOn(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.job = explode
		if said := h.crash("m1"); !strings.Contains(said, "out of range") {
			h.Fatalf("panic is %v", said)
		}
		mark := h.settlements[0]
		if mark.Kind != idem.SettleCrash || mark.Crashes != 1 {
			h.Fatalf("settlement is %+v, want the first crash", mark)
		}
		if top, _, _ := strings.Cut(mark.CrashStack, "("); !strings.HasSuffix(top, "idem_test.explode") {
			h.Fatalf("stack begins at %q, want where the job panicked:\n%s", top, mark.CrashStack)
		}
		h.job = func(_ context.Context, m *handler.Message) error {
			if m.Job.Crashes != 1 {
				h.Errorf("crashes are %d, want 1", m.Job.Crashes)
			}
			return nil
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
	})
}

func TestAPanicGoesOnThoughItCannotBeMarked(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.broken("crash")
		h.job = explode
		if said := h.crash("m1"); !strings.Contains(said, "out of range") {
			h.Fatalf("panic is %v", said)
		}
	})
}

func TestAJobThatCrashesTwiceIsDead(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.job = explode
		h.crash("m1")
		h.crash("m1")
		r := h.deliver(message("m1", "a"))
		h.want(r, handler.OutcomeDead, idem.ReasonCrashLoop, 2)
		if !r.Failure.Verdict || !strings.Contains(r.Failure.Stack, "idem_test.explode") {
			h.Fatalf("failure is %+v, want a verdict with the stack of the panic", r.Failure)
		}
		if verdict := h.lastSettlement(); verdict.Crashes != 2 {
			h.Fatalf("settlement is %+v, want the crashes kept", verdict)
		}
	})
}

// The text of a crash loop has the crashes that are counted, and the claims.
func TestACrashLoopTellsItsNumbers(t *testing.T) {
	t.Parallel()
	panics := func(h *harness) { h.job = explode; h.crash("m1") }
	silent := func(h *harness) { h.dies("m1") }
	fails := func(h *harness) { h.fails(errTimeout); h.deliver(message("m1", "a")); pass(time.Hour) }
	for want, ends := range map[string][]func(*harness){
		"2 crashes are counted, and 2 of the job's 2 claims ended without a result": {panics, panics},
		"2 crashes are counted, and 3 of the job's 3 claims ended without a result": {silent, panics, panics},
		"2 crashes are counted, and 4 of the job's 4 claims ended without a result": {silent, silent, silent, silent},
		"2 crashes are counted, and 2 of the job's 3 claims ended without a result": {fails, panics, silent},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				for _, end := range ends {
					end(h)
				}
				h.fails(nil)
				r := h.deliver(message("m1", "a"))
				h.want(r, handler.OutcomeDead, idem.ReasonCrashLoop, len(ends))
				if !strings.Contains(r.Failure.Message, want) {
					h.Errorf("message is %q, want %q in it", r.Failure.Message, want)
				}
				if r.Failure.Attempts > r.Failure.Runs() {
					h.Errorf("%d attempts of %d runs", r.Failure.Attempts, r.Failure.Runs())
				}
			})
		})
	}
}

func TestASettledRunEndsARowOfCrashes(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		for range 3 {
			h.job = explode
			h.crash("m1")
			h.fails(errTimeout)
			h.deliver(message("m1", "a"))
			pass(time.Hour)
		}
		if h.runs != 6 {
			h.Fatalf("the job ran %d times, want 6", h.runs)
		}
	})
}

func TestACrashThatWasCaughtIsMarked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ends  func(h *harness)
		again handler.Outcome
	}{
		"panic": {
			func(h *harness) {
				h.fails(&handler.PanicError{Value: "boom", Stack: "main.charge()"})
				h.crash("m1")
			}, handler.OutcomeDone,
		},
		"abandoned": {func(h *harness) { h.abandon("m1") }, handler.OutcomeBusy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				c.ends(h)
				if mark := h.settlements[0]; mark.Kind != idem.SettleCrash || mark.Crashes != 1 {
					h.Fatalf("settlement is %+v, want the first crash", mark)
				}
				h.fails(nil)
				if r := h.deliver(message("m1", "a")); r.Outcome != c.again {
					h.Fatalf("outcome at once is %s, want %s", r.Outcome, c.again)
				}
			})
		})
	}
}

func TestALongStackIsCut(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.fails(&handler.PanicError{Value: "boom", Stack: strings.Repeat("ä", 1<<16)})
		h.deliver(message("m1", "a"))
		if n := len(h.settlements[0].CrashStack); n == 0 || n > 4<<10 {
			h.Fatalf("stack has %d bytes, want at most 4096", n)
		}
	})
}

func TestAnAbortEndsNoRowOfCrashes(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.job = explode
		h.crash("m1")
		h.fails(&handler.Result{Outcome: handler.OutcomeDeferred})
		h.deliver(message("m1", "a"))
		h.job = explode
		h.crash("m1")
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDead, idem.ReasonCrashLoop, 3)
	})
}

func TestACrashAfterCancellationIsMarked(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		ctx, cancel := context.WithCancel(h.Context())
		h.job = func(context.Context, *handler.Message) error {
			cancel()
			return &handler.PanicError{Value: "boom"}
		}
		h.deliverIn(ctx, message("m1", "a"))
		h.job = func(_ context.Context, m *handler.Message) error {
			if m.Job.Crashes != 1 {
				h.Errorf("crashes are %d, want 1", m.Job.Crashes)
			}
			return nil
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
	})
}
