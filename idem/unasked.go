package idem

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// openAfter is the longest that a job waits for the store if it may run without.
const openAfter = 5 * time.Second

// acquire asks the store, and leaves time for a job that may run without it.
func (g *guard) acquire(ctx context.Context, r Request) (Answer, error) {
	if g.options.FailOpen {
		wait := openAfter
		if deadline, ok := ctx.Deadline(); ok {
			wait = min(wait, time.Until(deadline)/4)
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	return g.store.Acquire(ctx, r)
}

// unasked is the outcome where the store gave no answer.
func (g *guard) unasked(ctx context.Context, m *handler.Message, next handler.Func, err error) error {
	if reason := cutOff(ctx); reason != "" {
		return m.Unrun(reason, nil)
	}
	err = fmt.Errorf("idem: acquire: %w", err)
	if !g.options.FailOpen {
		return storeFailed(m, err)
	}
	g.options.log(ctx, slog.LevelWarn, "job runs unprotected",
		slog.String("messageId", m.MessageId), keyField(m.Job.Key), slog.String("error", err.Error()))
	return g.unprotected(ctx, m, next, err)
}

// unprotected runs a job without a claim, for which down is the cause. Only its
// success counts: a failure costs nothing and comes back, since no budget can
// be kept, and no dead letter goes out without a verdict.
func (g *guard) unprotected(ctx context.Context, m *handler.Message, next handler.Func, down error) error {
	steps := newSteps(g, m.Job.Key, nil)
	steps.unprotected, steps.claim.MessageID = true, m.MessageId
	defer steps.close()
	res := m.Resolve(ctx, next(withSteps(withKey(ctx, m.Job.Key), steps), m))
	switch res.Outcome {
	case handler.OutcomeDone:
		return &handler.Result{
			Outcome: handler.OutcomeDone, Decision: fault.Decision{Reason: ReasonUnprotected}, Job: m.Job,
		}
	case handler.OutcomeRetry, handler.OutcomeDead:
		failed := storeFailed(m, errors.Join(res.Err, down))
		failed.Delay = max(failed.Delay, res.Delay)
		return failed
	default:
		return res
	}
}
