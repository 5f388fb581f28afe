package idem_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

func noop(context.Context) error { return nil }

// misused demands a StepError with those words, which no rule knows: it is the
// code's fault, and may be mended before the job is dead.
func misused(t *testing.T, err error, words ...string) {
	t.Helper()
	if _, ok := errors.AsType[*idem.StepError](err); !ok {
		t.Fatalf("error is %v, want a StepError", err)
	}
	d := fault.Rules().Classify(t.Context(), err)
	if d.Class != fault.ClassUnclassified || d.Reason != fault.ReasonUnclassified {
		t.Errorf("error %v is %s (%s), want unclassified", err, d.Class, d.Reason)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %s", err, word)
		}
	}
}

func TestAStepNeedsAJob(t *testing.T) {
	t.Parallel()
	err := idem.Step(t.Context(), "charge", func(context.Context) error { t.Error("the step ran"); return nil })
	misused(t, err, `step "charge"`, "idem.Ledger")
}

func TestAStepNeedsAName(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		h.job = func(ctx context.Context, _ *handler.Message) error { return idem.Step(ctx, "", noop) }
		r := h.deliver(message("m1", "a"))
		h.want(r, handler.OutcomeRetry, fault.ReasonUnclassified, 1)
		misused(h.T, r.Err, `step ""`, "no name")
	})
}

func TestAMisusedStepHasTheBudgetOfAnUnknownError(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		h.job = func(ctx context.Context, _ *handler.Message) error { return idem.Step(ctx, "", noop) }
		for run := 1; run <= 2; run++ {
			h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, fault.ReasonUnclassified, run)
			pass(time.Hour)
		}
		dead := h.deliver(message("m1", "a"))
		h.want(dead, handler.OutcomeDead, fault.ReasonUnclassified, 3)
		if types := dead.Failure.Types; len(types) != 1 || types[0] != "*idem.StepError" {
			h.Errorf("the dead letter has the types %v, want that of the StepError", types)
		}
	})
}

func TestANameStandsForOneStep(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		h.job = func(ctx context.Context, _ *handler.Message) error {
			return idem.Step(ctx, "charge", func(ctx context.Context) error {
				misused(h.T, idem.Step(ctx, "charge", noop), "running already")
				return idem.Step(ctx, "email", noop)
			})
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
	})
}

func TestStepsMayRunSideBySide(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		const steps = 10
		runs := make(chan int, 2*steps)
		h.job = func(ctx context.Context, _ *handler.Message) error {
			failures := make(chan error)
			for i := range steps {
				go func() {
					failures <- idem.Step(ctx, fmt.Sprint("step-", i), func(context.Context) error {
						pass(time.Duration(i%3) * time.Second)
						runs <- i
						return nil
					})
				}()
			}
			err := errTimeout
			for range steps {
				err = errors.Join(err, <-failures)
			}
			return err
		}
		for run := 1; run <= 2; run++ {
			h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, "provider", run)
			pass(time.Hour)
		}
		if len(runs) != steps {
			h.Fatalf("%d steps ran, want %d", len(runs), steps)
		}
	})
}

func TestNoStepStartsBehindItsJob(t *testing.T) {
	t.Parallel()
	for name, job := range map[string]func(context.Context){
		"returned":  func(context.Context) {},
		"completed": func(ctx context.Context) { idem.CompletionOf(ctx).Commit() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stepped(t, func(h *harness) {
				var after func() error
				h.job = func(ctx context.Context, _ *handler.Message) error {
					job(ctx)
					after = func() error {
						return idem.Step(ctx, "charge", func(context.Context) error { h.Error("the step ran"); return nil })
					}
					if name == "completed" {
						misused(h.T, after(), "come to its end")
					}
					return nil
				}
				h.deliver(message("m1", "a"))
				misused(h.T, after(), "come to its end")
			})
		})
	}
}

func TestStepsHaveRoomForSomeKilobytes(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		var done int
		h.job = func(ctx context.Context, _ *handler.Message) error {
			for {
				_, err := idem.StepValue(ctx, fmt.Sprint("step-", done), func(context.Context) (string, error) {
					done++
					return strings.Repeat("x", 4094), nil
				})
				if err != nil {
					misused(h.T, err, "no room", "has 11 steps")
					return idem.Step(ctx, "small", noop)
				}
			}
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
		if done != 11 {
			h.Fatalf("%d steps ran, want the 11 that fit", done)
		}
	})
}

func TestASmallResultTakesLittleRoom(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		h.job = func(ctx context.Context, _ *handler.Message) error {
			for i := range 100 {
				_, err := idem.StepValue(ctx, fmt.Sprint("step-", i), func(context.Context) (int, error) { return i, nil })
				if err != nil {
					return err
				}
			}
			return nil
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
	})
}

func TestAFailedStepTakesNoRoom(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		h.job = func(ctx context.Context, _ *handler.Message) error {
			for i := range 100 {
				_, err := idem.StepValue(ctx, fmt.Sprint("step-", i), func(context.Context) (int, error) { return 0, errTimeout })
				if !errors.Is(err, errTimeout) {
					return err
				}
			}
			return nil
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
	})
}
