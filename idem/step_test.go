package idem_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// stepped is a scenario about steps.
func stepped(t *testing.T, run func(h *harness)) {
	t.Helper()
	scenario(t, run)
}

// order is a job of three steps that notes the key of each step that runs.
type order struct {
	keys  []string
	fails string // the step that fails
	err   error
}

func (o *order) run(ctx context.Context, _ *handler.Message) error {
	for _, name := range []string{"reserve", "charge", "email"} {
		err := idem.Step(ctx, name, func(ctx context.Context) error {
			o.keys = append(o.keys, idem.Key(ctx))
			if name == o.fails {
				return o.err
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ran demands the keys of the steps that have run.
func (o *order) ran(h *harness, keys ...string) {
	h.Helper()
	if diff := cmp.Diff(keys, o.keys); diff != "" {
		h.Fatalf("steps that ran (-want +got):\n%s", diff)
	}
}

func TestAStepThatIsDoneIsNotRunAgain(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		o := &order{fails: "charge", err: errTimeout}
		h.job = o.run
		for run := 1; run <= 3; run++ {
			h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, "provider", run)
			pass(time.Hour)
		}
		o.fails = ""
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 4)
		o.ran(h, "m1#reserve", "m1#charge", "m1#charge", "m1#charge", "m1#charge", "m1#email")
		want := []string{
			"acquire", "first step reserve", "release", "acquire", "release", "acquire", "release",
			"acquire", "step charge", "step email", "complete",
		}
		if diff := cmp.Diff(want, h.calls); diff != "" {
			h.Fatalf("calls (-want +got):\n%s", diff)
		}
	})
}

func TestAReplayRepeatsNoStep(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"as it was": `{"id":"ch-1"}`, "edited": `{"id":"ch-1","to":"b@example.com"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stepped(t, func(h *harness) {
				h.options.Key = idem.JSONField("id")
				o := &order{fails: "email", err: errCard}
				h.job = o.run
				h.posts = true
				dead := h.deliver(message("m1", `{"id":"ch-1"}`))
				h.want(dead, handler.OutcomeDead, "card", 1)
				o.fails = ""
				replayed := h.replayed("m2", body, handler.Replay{Key: "ch-1", Verdict: true, MessageID: "m1"})
				h.want(h.deliver(replayed), handler.OutcomeDone, "", 2)
				o.ran(h, "ch-1#reserve", "ch-1#charge", "ch-1#email", "ch-1#email")
			})
		})
	}
}

func TestAStepOfAProcessThatDiedIsNotRunAgain(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		o := &order{}
		h.job = o.run
		h.broken("complete") // as if the process had died before it
		h.deliver(message("m1", "a"))
		h.faults.Before = nil
		pass(time.Minute)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
		o.ran(h, "m1#reserve", "m1#charge", "m1#email")
	})
}

// A step that is done is recorded although its job was cancelled. But the job must come to
// its end: to be abandoned counts as a crash of it, which is not its fault here.
func TestTheRecordOfAStepEndsSoonAfterItsJobIsCancelled(t *testing.T) {
	t.Parallel()
	for name, takes := range map[string]time.Duration{
		"written when the job is cancelled": 26 * time.Second, "written after that": 27*time.Second + time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stepped(t, func(h *harness) {
				h.job = func(ctx context.Context, _ *handler.Message) error {
					return idem.Step(ctx, "charge", func(context.Context) error { pass(takes); return nil })
				}
				h.faults.Before = func(ctx context.Context, c idemtest.Call) error {
					if c == idemtest.CallStep {
						<-ctx.Done()
						return ctx.Err()
					}
					return nil
				}
				got := h.deliver(message("m1", "a"))
				h.want(got, handler.OutcomeRetry, fault.ReasonStore, 1)
				if s := h.lastSettlement(); s.Kind != idem.SettleRelease || s.Attempts != 0 || s.Crashes != 0 {
					h.Fatalf("settled by %v, %d attempts, %d crashes", s.Kind, s.Attempts, s.Crashes)
				}
			})
		})
	}
}

func TestAStepThatPanicsRunsAgain(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		h.job = func(ctx context.Context, m *handler.Message) error {
			return idem.Step(ctx, "charge", func(ctx context.Context) error { return explode(ctx, m) })
		}
		if said := h.crash("m1"); !strings.Contains(said, "out of range") {
			h.Fatalf("panic is %v", said)
		}
		o := &order{}
		h.job = o.run
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
		o.ran(h, "m1#reserve", "m1#charge", "m1#email")
	})
}

func TestTheJobsKeyIsItsOwnAroundItsSteps(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		var keys []string
		note := func(ctx context.Context) error { keys = append(keys, idem.Key(ctx)); return nil }
		h.job = func(ctx context.Context, _ *handler.Message) error {
			return errors.Join(note(ctx), idem.Step(ctx, "outer", func(ctx context.Context) error {
				return errors.Join(note(ctx), idem.Step(ctx, "inner", note), note(ctx))
			}), note(ctx))
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
		if want := []string{"m1", "m1#outer", "m1#inner", "m1#outer", "m1"}; !slices.Equal(keys, want) {
			h.Fatalf("keys are %q, want %q", keys, want)
		}
	})
}

func TestAStepThatIsNotRunIsLogged(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		lines := h.logs()
		o := &order{fails: "charge", err: errTimeout}
		h.job = o.run
		h.deliver(message("m1", "a"))
		if lines.Len() > 0 {
			h.Fatalf("log %q, want none of a first run", lines)
		}
		pass(time.Hour)
		h.deliver(message("m1", "a"))
		for _, want := range []string{`"INFO"`, "step done before", `"step":"reserve"`, `"key":"m1"`, `"messageId":"m1"`} {
			if !strings.Contains(lines.String(), want) {
				h.Errorf("log %q has no %s", lines, want)
			}
		}
	})
}

func TestAStepThatCannotBeRecordedIsRetriedAtNoCost(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		o := &order{}
		h.job = o.run
		h.broken(idemtest.CallStep)
		r := h.deliver(message("m1", "a"))
		h.want(r, handler.OutcomeRetry, fault.ReasonStore, 1)
		if r.Job.Attempts != 0 || !errors.Is(r.Err, errStore) || !strings.Contains(r.Err.Error(), `step "reserve" is done`) {
			h.Fatalf("result is %+v, want the store's error and no attempt", r)
		}
		h.faults.Before = nil
		pass(time.Hour)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
		o.ran(h, "m1#reserve", "m1#reserve", "m1#charge", "m1#email")
	})
}

func TestAStepWhoseRecordWasNotAnsweredIsDone(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		o := &order{}
		h.job = o.run
		h.faults.After = func(_ context.Context, call idemtest.Call) error {
			if call == idemtest.CallStep {
				return errStore
			}
			return nil
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, fault.ReasonStore, 1)
		h.faults.After = nil
		pass(time.Hour)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
		o.ran(h, "m1#reserve", "m1#charge", "m1#email")
	})
}

func TestAStepThatIsTriedAgainInItsRunIsOnlyRecorded(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		o := &order{}
		h.job = func(ctx context.Context, m *handler.Message) error {
			h.broken(idemtest.CallStep)
			first := o.run(ctx, m)
			h.faults.Before = nil
			if first == nil {
				h.Error("a step that was not recorded gave no error")
			}
			return o.run(ctx, m)
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
		o.ran(h, "m1#reserve", "m1#charge", "m1#email")
	})
}

func TestAStepOfUnknownOutcomeIsForAPersonWhereAskedFor(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		o := &order{}
		h.options.DeadLetterUnknown = true
		h.job = func(ctx context.Context, m *handler.Message) error {
			h.broken(idemtest.CallStep)
			return o.run(ctx, m)
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDead, idem.ReasonUnknownOutcome, 1)
		o.ran(h, "m1#reserve")
	})
}

func TestAStepIsRecordedAlthoughTheJobIsCancelled(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		var runs int
		charge := func(ctx context.Context) error { runs++; return nil }
		h.job = func(ctx context.Context, _ *handler.Message) error {
			ctx, cancel := context.WithCancel(ctx)
			err := idem.Step(ctx, "charge", func(ctx context.Context) error {
				cancel()
				return charge(ctx)
			})
			if err != nil {
				return err
			}
			if err := idem.Step(ctx, "email", charge); !errors.Is(err, context.Canceled) {
				h.Errorf("a step of a cancelled job gave %v", err)
			}
			return errTimeout
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, "provider", 1)
		pass(time.Hour)
		h.job = func(ctx context.Context, _ *handler.Message) error { return idem.Step(ctx, "charge", charge) }
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
		if runs != 1 {
			h.Fatalf("%d steps ran, want one", runs)
		}
	})
}

func TestALateFinisherRecordsNoStep(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		h.options.Lease = time.Second
		h.broken(idemtest.CallRenew)
		o := &order{}
		h.job = func(ctx context.Context, _ *handler.Message) error {
			h.job = o.run
			err := idem.Step(ctx, "reserve", func(context.Context) error {
				pass(time.Minute)
				h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
				return nil
			})
			lost, ok := errors.AsType[*idem.LostError](err)
			if !ok || lost.ID != "charges#m1" || lost.Err == nil {
				h.Errorf("error is %v, want that the claim is lost", err)
			}
			return err
		}
		h.deliverIn(h.Context(), message("m1", "a"))
		o.ran(h, "m1#reserve", "m1#charge", "m1#email")
	})
}

func TestNoStepStartsWithoutAClaimThatHolds(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		h.options.Lease = time.Second
		h.broken(idemtest.CallRenew)
		o := &order{}
		h.job = func(ctx context.Context, m *handler.Message) error {
			pass(2 * time.Second)
			return o.run(ctx, m)
		}
		r := h.deliverIn(h.Context(), message("m1", "a"))
		if _, ok := errors.AsType[*idem.LostError](r.Err); !ok || len(o.keys) > 0 {
			h.Fatalf("result is %+v after the steps %q, want that the claim is lost", r, o.keys)
		}
	})
}
