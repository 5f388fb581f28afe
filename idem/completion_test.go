package idem_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// settled is a job that completes itself, as a transaction does.
func settled(ctx context.Context, _ *handler.Message) error {
	c := idem.CompletionOf(ctx)
	if err := c.Store().Settle(ctx, c.Claim(), c.HandOut()); err != nil {
		return err
	}
	c.Commit()
	return nil
}

func TestAJobThatIsCompletedIsNotSettled(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Keep = time.Hour
		h.job = func(ctx context.Context, m *handler.Message) error {
			pass(time.Second)
			return settled(ctx, m)
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDuplicate, idem.ReasonCompleted, 1)
		h.asks("acquire", "complete", "acquire")
		if kept := h.settlements[0].Expires.Sub(h.requests[0].Now); kept != time.Hour+time.Second {
			h.Errorf("the job is kept for %v after its claim, want an hour after its completion", kept)
		}
	})
}

// A completion that is handed out and not written leaves the job to the middleware.
func TestACompletionThatIsNotWrittenChangesNothing(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.job = func(ctx context.Context, _ *handler.Message) error {
			c := idem.CompletionOf(ctx)
			first := c.HandOut()
			pass(time.Second)
			if diff := cmp.Diff(first, c.HandOut()); diff != "" || c.Committed() {
				h.Errorf("the completion counts as written: %t; it changed (-first +again):\n%s", c.Committed(), diff)
			}
			return nil
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, "", 1)
		h.asks("acquire", "complete")
	})
}

func TestWhereThereIsNoClaimThereIsNoCompletion(t *testing.T) {
	t.Parallel()
	if c := idem.CompletionOf(t.Context()); c != nil || c.Committed() {
		t.Errorf("outside of a job the completion is %v, want none", c)
	}
	scenario(t, func(h *harness) {
		h.options.FailOpen = true
		h.broken("acquire")
		h.job = func(ctx context.Context, _ *handler.Message) error {
			if c := idem.CompletionOf(ctx); c != nil {
				h.Errorf("of an unprotected job the completion is %v, want none", c)
			}
			return nil
		}
		h.want(h.deliver(message("m1", "a")), handler.OutcomeDone, idem.ReasonUnprotected, 1)
	})
}
