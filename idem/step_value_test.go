package idem_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

type charge struct {
	ID     string    `json:"id"`
	Amount int       `json:"amount"`
	At     time.Time `json:"at"`
	secret string
}

func TestTheResultOfAStepIsKept(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		var made int
		var got []charge
		h.job = func(ctx context.Context, _ *handler.Message) error {
			c, err := idem.StepValue(ctx, "charge", func(context.Context) (charge, error) {
				made++
				return charge{"ch_1", 1250, time.Now(), "not exported"}, nil
			})
			if err != nil {
				return err
			}
			got = append(got, c)
			return errTimeout
		}
		for run := 1; run <= 2; run++ {
			h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, "provider", run)
			pass(time.Hour)
		}
		if made != 1 || got[0].ID != "ch_1" || got[0].Amount != 1250 {
			h.Fatalf("%d charges were made: %+v", made, got)
		}
		if diff := cmp.Diff(got[0], got[1], cmp.AllowUnexported(charge{})); diff != "" {
			h.Fatalf("the second run got another result (-first +second):\n%s", diff)
		}
	})
}

func TestAStepThatFailsHasNoResult(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		h.job = func(ctx context.Context, _ *handler.Message) error {
			n, err := idem.StepValue(ctx, "charge", func(context.Context) (int, error) { return 7, errTimeout })
			if n != 0 || !errors.Is(err, errTimeout) {
				h.Errorf("step gave %d, %v; want the error alone", n, err)
			}
			return err
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, "provider", 1)
	})
}

// valued is a job whose one step gives that result.
func valued[T any](result T, runs *int) handler.Func {
	return func(ctx context.Context, _ *handler.Message) error {
		_, err := idem.StepValue(ctx, "charge", func(context.Context) (T, error) {
			*runs++
			return result, nil
		})
		return err
	}
}

func TestAResultThatCannotBeKeptIsNoSuccessAndIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		job   func(runs *int) handler.Func
		words string
	}{
		"too long": {func(runs *int) handler.Func { return valued(strings.Repeat("x", 4095), runs) }, "4097 bytes"},
		"no JSON":  {func(runs *int) handler.Func { return valued(func() {}, runs) }, "unsupported type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stepped(t, func(h *harness) {
				var runs int
				h.job = c.job(&runs)
				first := h.deliver(message("m1", "a"))
				h.want(first, handler.OutcomeRetry, fault.ReasonUnclassified, 1)
				misused(h.T, first.Err, "the step is done", c.words)
				var dead *handler.Result
				for range 2 {
					pass(time.Hour)
					dead = h.deliver(message("m1", "a"))
					misused(h.T, dead.Err, "kept no result")
				}
				h.want(dead, handler.OutcomeDead, fault.ReasonUnclassified, 3)
				replayed := h.replayed("m2", "a", handler.Replay{Key: "m1", Verdict: true, MessageID: "m1"})
				again := h.deliver(replayed)
				h.want(again, handler.OutcomeRetry, fault.ReasonUnclassified, 4)
				misused(h.T, again.Err, "kept no result")
				if runs != 1 {
					h.Fatalf("the step ran %d times, want once", runs)
				}
			})
		})
	}
}

func TestAResultOfAnotherKindIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before handler.Func
		words  string
	}{
		"another type": {valued("ch_1", new(int)), "no int"},
		"no value": {func(ctx context.Context, _ *handler.Message) error {
			return idem.Step(ctx, "charge", noop)
		}, "kept no result"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stepped(t, func(h *harness) {
				h.job = func(ctx context.Context, m *handler.Message) error {
					return errors.Join(c.before(ctx, m), errTimeout)
				}
				h.deliver(message("m1", "a"))
				pass(time.Hour)
				var runs int
				h.job = valued(1, &runs)
				r := h.deliver(message("m1", "a"))
				h.want(r, handler.OutcomeRetry, fault.ReasonUnclassified, 2)
				misused(h.T, r.Err, c.words)
				if runs != 0 {
					h.Fatal("the step ran again")
				}
			})
		})
	}
}

func TestAStepMayForgetTheResultOfAnEarlierDeploy(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		h.job = func(ctx context.Context, m *handler.Message) error {
			return errors.Join(valued("ch_1", new(int))(ctx, m), errTimeout)
		}
		h.deliver(message("m1", "a"))
		pass(time.Hour)
		o := &order{}
		h.job = o.run
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 2)
		o.ran(h, "m1#reserve", "m1#email")
	})
}
