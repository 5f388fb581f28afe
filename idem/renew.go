package idem

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// Renewer is a [Store] that can put off the end of a claim. [Middleware] calls
// it while a job runs in an invocation without a deadline.
type Renewer interface {
	// Renew makes a claim hold until then, kept in milliseconds, and changes
	// nothing else. It is one conditional write: the item must have the claim's
	// owner, be in progress, and have the claim's count of settled runs. It
	// gives a [*LateError] otherwise. It never shortens a lease: asked for an
	// earlier end than the item has by now, it writes nothing and gives nil, so
	// that a request which arrives late does no harm. Asked again after a lost
	// answer it gives nil.
	Renew(ctx context.Context, c Claim, until time.Time) error
}

// LostError is the cause with which the context of a job ends when its claim
// does: from then on another delivery may run the job. It is a
// [context.Canceled] too, since that is all that it means to the job.
type LostError struct {
	// ID is the job's.
	ID string
	// Err is the [*LateError] that refused to renew the claim, or what kept it
	// from being renewed until it lapsed; nil if it lapsed before a try.
	Err error
}

// Error tells why the claim was lost.
func (e *LostError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("idem: the claim on %q has lapsed", e.ID)
	}
	return fmt.Sprintf("idem: the claim on %q is lost: %v", e.ID, e.Err)
}

// Unwrap gives Err.
func (e *LostError) Unwrap() error { return e.Err }

// Is tells whether target is [context.Canceled].
func (e *LostError) Is(target error) bool { return target == context.Canceled }

// renew keeps the claim from lapsing, where no deadline bounds it, until stop is
// called. Stop waits for a call under way, so that none is made beside or after
// the write that settles the claim. If the claim is lost, cancel gets the cause.
func (c *claimed) renew(ctx context.Context, cancel context.CancelCauseFunc) (stop func()) {
	if !c.renews(ctx) {
		return func() {}
	}
	// A job that was told to stop is to stay its own until it has.
	ctx, quit := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.keep(ctx, cancel)
	}()
	return func() {
		quit()
		<-done
	}
}

// keep renews the claim until ctx ends or the store refuses. It goes on when
// the claim has lapsed: a function that ignores its cancellation still runs,
// and a claim that nobody took can be had back for it.
func (c *claimed) keep(ctx context.Context, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(c.firstRenewal())
	defer ticker.Stop()
	lapse := time.NewTimer(c.left())
	defer lapse.Stop()
	var failed error
	for {
		select {
		case <-ctx.Done():
			return
		case <-lapse.C:
			c.lose(ctx, cancel, failed)
			continue
		case <-ticker.C:
		}
		if c.left() <= 0 {
			c.lose(ctx, cancel, failed) // the timer is about to say so
		}
		failed = c.extend(ctx)
		late, refused := errors.AsType[*LateError](failed)
		switch {
		case failed == nil:
			lapse.Reset(c.left())
			ticker.Reset(c.renewInterval())
		case ctx.Err() != nil:
			return
		case refused && c.completion.explains(late):
			return
		case refused:
			c.lose(ctx, cancel, late)
			return
		default:
			c.warn(ctx, "claim not renewed", failed)
			ticker.Reset(c.renewInterval() / 4)
		}
	}
}

// extend asks for another lease. It takes no longer than until the next try or
// until the present lease lapses.
func (c *claimed) extend(ctx context.Context) error {
	until := c.lease(ctx, time.Now())
	limit := c.renewInterval()
	if left := c.left(); left > 0 {
		limit = min(limit, left)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := c.renewer.Renew(ctx, c.answer.Claim, until); err != nil {
		return err
	}
	c.answer.Claim.Lease = until
	return nil
}

// lose ends the job's context, once.
func (c *claimed) lose(ctx context.Context, cancel context.CancelCauseFunc, err error) {
	if c.lost != nil {
		return
	}
	c.lost = &LostError{ID: c.answer.Claim.ID, Err: err}
	cancel(c.lost)
	c.warn(ctx, "claim lost while the job runs", c.lost)
}

// left is how long this process may count on the claim.
func (c *claimed) left() time.Duration {
	return time.Until(c.answer.Claim.Lease.Add(-handler.ClockMargin))
}

// firstRenewal is the time until two intervals of the lease are left: a whole
// interval for a new claim, and less for one that has waited.
func (c *claimed) firstRenewal() time.Duration {
	interval := c.renewInterval()
	return min(interval, max(c.left()-2*interval, time.Millisecond))
}

// renewInterval is the time between renewals. After one that failed the next is
// tried in a quarter of it.
func (c *claimed) renewInterval() time.Duration {
	return max(c.options.Lease/3, time.Millisecond)
}
