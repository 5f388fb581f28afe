package idem

import (
	"context"
	"errors"
	"fmt"
)

// suspect tells whether an earlier run may have ended its process: a claim was
// made and never settled.
func (c *claimed) suspect() bool { return c.answer.Claims > c.answer.Settled }

// alone waits until the job is the only one of its process, and counts a crash
// ahead of the run, which leaves no time for that if it ends the process. The
// error is the outcome of a job that is not to run.
func (c *claimed) alone(ctx context.Context) error {
	if err := c.await(ctx); err != nil {
		return c.settle(ctx, c.message.Resolve(ctx, err))
	}
	if reason := hindrance(ctx, c.answer.Claim.Lease); reason != "" {
		return c.unrun(ctx, reason)
	}
	if err := c.countAhead(ctx); err != nil {
		return c.unmarked(ctx, err)
	}
	if reason := hindrance(ctx, c.answer.Claim.Lease); reason != "" {
		return c.unrun(ctx, reason)
	}
	return nil
}

// await waits for the turn, and keeps the claim meanwhile.
func (c *claimed) await(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer c.renew(ctx, cancel)()
	return c.message.Alone(ctx)
}

// countAhead writes down the crash that the run may be. A run that ends takes it
// back.
func (c *claimed) countAhead(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	return c.store.Settle(ctx, c.answer.Claim, Settlement{Kind: SettleAlone, Crashes: c.crashed()})
}

// crashed is the count of crashes if the present run is one.
func (c *claimed) crashed() int { return c.answer.Job.Crashes + 1 }

// unmarked is the outcome of a job that may not run since its crash could not be
// counted. The abort takes back what may have been written all the same.
func (c *claimed) unmarked(ctx context.Context, err error) error {
	if reason := cutOff(ctx); reason != "" {
		return c.unrun(ctx, reason)
	}
	failed := storeFailed(c.message, fmt.Errorf("idem: alone: %w", err))
	if _, late := errors.AsType[*LateError](err); late {
		return c.unlessLate(ctx, err, failed)
	}
	return c.abort(ctx, failed)
}

// unrun gives back a job that is not to run for that reason.
func (c *claimed) unrun(ctx context.Context, reason string) error {
	return c.settle(ctx, c.message.NotRun(ctx, reason, nil))
}
