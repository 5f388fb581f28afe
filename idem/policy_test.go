package idem_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// open is a scenario with a store that is down and jobs that do not wait for it.
func open(t *testing.T, run func(h *harness)) {
	t.Helper()
	stepped(t, func(h *harness) {
		h.options.FailOpen = true
		h.broken(idemtest.CallAcquire)
		run(h)
	})
}

func TestWithoutTheStoreNothingRuns(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.broken(idemtest.CallAcquire)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, fault.ReasonStore, 0)
	})
}

func TestFailOpenRunsWithoutTheStore(t *testing.T) {
	t.Parallel()
	open(t, func(h *harness) {
		lines := h.logs()
		h.job = func(ctx context.Context, m *handler.Message) error {
			if key := idem.Key(ctx); key != "m1" || m.Job.Key != key {
				h.Errorf("keys are %q and %q, want m1", key, m.Job.Key)
			}
			return nil
		}
		for run := 1; run <= 2; run++ {
			h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, idem.ReasonUnprotected, run)
		}
		for _, want := range []string{`"WARN"`, "job runs unprotected", `"messageId":"m1"`, "no such table"} {
			if !strings.Contains(lines.String(), want) {
				h.Errorf("log %q has no %s", lines, want)
			}
		}
		if len(h.settlements) > 0 {
			h.Errorf("the store was told %+v", h.settlements)
		}
	})
}

func TestFailOpenClosesAgain(t *testing.T) {
	t.Parallel()
	open(t, func(h *harness) {
		h.deliver(message("m1", "a"))
		h.faults.Before = nil
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDuplicate, idem.ReasonCompleted, 2)
	})
}

func TestAnUnprotectedFailureCostsNothing(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{
		"retryable": errTimeout, "permanent": errCard, "later": fault.RetryAfter(time.Hour, errors.New("closed")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, func(h *harness) {
				h.fails(failure)
				r := h.deliver(received("m1", "a", 3))
				h.want(r, handler.OutcomeRetry, fault.ReasonStore, 1)
				if r.Job.Attempts != 0 || r.Failure != nil || !errors.Is(r.Err, failure) || !errors.Is(r.Err, errStore) {
					h.Fatalf("result is %+v, want both errors and no attempt", r)
				}
				if low := 4 * time.Second; r.Delay < low || name == "later" && r.Delay < time.Hour {
					h.Fatalf("delay is %v", r.Delay)
				}
			})
		})
	}
}

func TestAnUnprotectedPanicGoesOn(t *testing.T) {
	t.Parallel()
	open(t, func(h *harness) {
		h.job = explode
		if said := h.crash("m1"); !strings.Contains(said, "out of range") {
			h.Fatalf("panic is %v", said)
		}
	})
}

func TestALongKeyDoesNotFillTheLog(t *testing.T) {
	t.Parallel()
	open(t, func(h *harness) {
		h.options.Key = idem.JSONField("id")
		lines := h.logs()
		h.deliver(message("m1", `{"id":"`+strings.Repeat("k", 1<<16)+`"}`))
		if n := len(lines.String()); n == 0 || n > 1<<10 {
			h.Errorf("the log has %d bytes, want a short line", n)
		}
	})
}

func TestUnprotectedStepsRun(t *testing.T) {
	t.Parallel()
	open(t, func(h *harness) {
		o := &order{fails: "email", err: errTimeout}
		h.job = func(ctx context.Context, m *handler.Message) error {
			_ = o.run(ctx, m)
			return o.run(ctx, m)
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, fault.ReasonStore, 1)
		o.ran(h, "m1#reserve", "m1#charge", "m1#email", "m1#email")
		if n := len(h.calls); n != 1 {
			h.Fatalf("calls are %q, want the one that failed", h.calls)
		}
	})
}

func TestFailOpenGoesOnWithoutARecordOfAStep(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		h.options.FailOpen = true
		lines := h.logs()
		o := &order{}
		h.job = o.run
		h.broken(idemtest.CallStep)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
		o.ran(h, "m1#reserve", "m1#charge", "m1#email")
		for _, want := range []string{"step done but not recorded", `"step":"charge"`, "no such table"} {
			if !strings.Contains(lines.String(), want) {
				h.Errorf("log %q has no %s", lines, want)
			}
		}
	})
}

func TestAStoreThatHangsIsGivenUpInTimeToRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ has, wait time.Duration }{
		"much time":   {invocationTime, 5 * time.Second},
		"little time": {8 * time.Second, 1500 * time.Millisecond}, // of the 6 s before the reserve
		"no limit":    {0, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, func(h *harness) {
				h.down(0, time.Hour, true)
				ctx := h.Context()
				if c.has > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.has)
					defer cancel()
				}
				begin := time.Now()
				h.want(h.deliverIn(ctx, message("m1", "a")), handler.OutcomeDone, idem.ReasonUnprotected, 1)
				if waited := time.Since(begin); waited != c.wait {
					h.Fatalf("the job began after %v, want %v", waited, c.wait)
				}
			})
		})
	}
}

func TestAJobThatIsCutOffDoesNotRunUnprotected(t *testing.T) {
	t.Parallel()
	open(t, func(h *harness) {
		ctx, cancel := context.WithCancel(h.Context())
		h.faults.Before = func(context.Context, idemtest.Call) error {
			cancel()
			return errStore
		}
		h.want(h.deliverIn(ctx, message("m1", "a")), handler.OutcomeDeferred, handler.ReasonCancelled, 0)
	})
}

// unknown is a scenario in which jobs of unknown outcome go to a person.
func unknown(t *testing.T, run func(h *harness)) {
	t.Helper()
	stepped(t, func(h *harness) {
		h.options.DeadLetterUnknown = true
		run(h)
	})
}

// vanish delivers a message whose process dies, so that its claim lapses.
func (h *harness) vanish(id string) {
	h.Helper()
	h.faults.Before = func(_ context.Context, call idemtest.Call) error {
		if call == idemtest.CallAcquire || call == idemtest.CallStep {
			return nil
		}
		return errStore
	}
	h.deliver(message(id, "a"))
	h.faults.Before = nil
	pass(invocationTime + 2*time.Second)
}

func TestAnUnknownOutcomeRunsAgain(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.vanish("m1")
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
	})
}

func TestDeadLetterUnknownAsksAPerson(t *testing.T) {
	t.Parallel()
	unknown(t, func(h *harness) {
		o := &order{fails: "email", err: errTimeout}
		h.job = o.run
		h.vanish("m1")
		h.posts = true
		dead := h.deliver(message("m1", "a"))
		h.want(dead, handler.OutcomeDead, idem.ReasonUnknownOutcome, 1)
		if f := dead.Failure; f == nil || !f.Verdict || f.Key != "m1" || dead.Job.Attempts != 0 {
			h.Fatalf("result is %+v with failure %+v, want a verdict", dead, f)
		}
		for _, want := range []string{
			"1 of 1 claims", "marked crashes: 0", "steps done: charge, reserve;", "replay the job",
		} {
			if !strings.Contains(dead.Failure.Message, want) {
				h.Errorf("message %q does not say %s", dead.Failure.Message, want)
			}
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDuplicate, idem.ReasonDeadBefore, 1)

		o.fails = ""
		replayed := h.replayed("m2", "a", handler.Replay{Key: "m1", Verdict: true, MessageID: "m1"})
		h.want(h.deliver(replayed), handler.OutcomeDone, "", 2)
	})
}

func TestDeadLetterUnknownTellsWhereTheJobPanicked(t *testing.T) {
	t.Parallel()
	unknown(t, func(h *harness) {
		h.job = explode
		h.crash("m1")
		dead := h.deliver(message("m1", "a"))
		h.want(dead, handler.OutcomeDead, idem.ReasonUnknownOutcome, 1)
		f := dead.Failure
		if !strings.Contains(f.Stack, "idem_test.explode") || !strings.Contains(f.Message, "marked crashes: 1") {
			h.Fatalf("failure is %+v, want the stack of the panic", f)
		}
	})
}

func TestAKnownOutcomeIsNoUnknownOne(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{
		"failed":   errTimeout,
		"deferred": &handler.Result{Outcome: handler.OutcomeDeferred},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unknown(t, func(h *harness) {
				h.fails(failure)
				for range 3 {
					h.deliver(message("m1", "a"))
					pass(time.Hour)
				}
				h.fails(nil)
				h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 4)
			})
		})
	}
}

// A step that could not be recorded in time is of unknown outcome, also where the claim
// is lost meanwhile and the job is cancelled: a cancelled job would run again.
func TestAStepOfUnknownOutcomeIsOneAlthoughTheJobIsCancelled(t *testing.T) {
	t.Parallel()
	unknown(t, func(h *harness) {
		h.options.Lease = time.Minute
		begin := time.Now()
		h.faults.Before = func(ctx context.Context, call idemtest.Call) error {
			switch {
			case call == idemtest.CallStep:
				<-ctx.Done()
				return ctx.Err()
			case call == idemtest.CallRenew && time.Since(begin) > 15*time.Second:
				return errStore
			}
			return nil
		}
		o := &order{}
		h.job = func(ctx context.Context, m *handler.Message) error {
			pass(55 * time.Second)
			return o.run(ctx, m)
		}
		h.want(h.work(), handler.OutcomeDead, idem.ReasonUnknownOutcome, 1)
		o.ran(h, "m1#reserve")
	})
}

func TestAnUnknownOutcomeThatCannotBeWrittenIsNotSent(t *testing.T) {
	t.Parallel()
	unknown(t, func(h *harness) {
		h.vanish("m1")
		h.broken("verdict")
		h.posts = true
		r := h.deliver(message("m1", "a"))
		h.want(r, handler.OutcomeRetry, fault.ReasonStore, 1)
		if len(h.letters) > 0 || r.Failure != nil {
			h.Fatalf("result is %+v, want no dead letter", r)
		}
	})
}
