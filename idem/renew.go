package idem

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// LostError is the cancellation cause of a job's context after its claim was lost:
// another delivery may run the job from then on. It is a [context.Canceled] too, since
// the job should treat it as a cancellation.
type LostError struct {
	// ID is the id of the job in the store.
	ID string
	// Err is the [*LateError] of a refused renewal, or the error that kept the claim from
	// being renewed until it expired; nil if it expired before a try.
	Err error
}

// Error says why the claim was lost.
func (e *LostError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("idem: the claim on %q has lapsed", e.ID)
	}
	return fmt.Sprintf("idem: the claim on %q is lost: %v", e.ID, e.Err)
}

// Unwrap returns Err.
func (e *LostError) Unwrap() error { return e.Err }

// Is reports whether target is [context.Canceled].
func (e *LostError) Is(target error) bool { return target == context.Canceled }

// renewal is the goroutine that renews a claim if there is no deadline.
type renewal struct {
	quit func()
	done chan struct{}
	// lost is closed when the claim is lost.
	lost chan struct{}
}

// startRenewal renews the claim until stop is called.
func (c *claim) startRenewal() {
	ctx, quit := context.WithCancel(context.Background())
	r := &renewal{quit: quit, done: make(chan struct{}), lost: make(chan struct{})}
	c.renewal = r
	go func() {
		defer close(r.done)
		c.keep(ctx)
	}()
}

// stop ends the renewal and waits for a running call, so that none is made beside or
// after the write that settles the claim.
func (r *renewal) stop() {
	if r != nil {
		r.quit()
		<-r.done
	}
}

// keep renews the claim until ctx ends or the store refuses. It goes on after the claim
// has expired: a function that ignores its cancellation still runs, and a claim that
// nobody has taken over can be renewed for it.
func (c *claim) keep(ctx context.Context) {
	// The answer to the claim may have taken most of its lease.
	first := min(c.renewInterval(), time.Until(c.Lease())/2)
	ticker := time.NewTicker(max(first, time.Millisecond))
	defer ticker.Stop()
	lapse := time.NewTimer(time.Until(c.Lease()))
	defer lapse.Stop()
	var failed error
	for {
		select {
		case <-ctx.Done():
			return
		case <-lapse.C:
			c.lose(ctx, failed)
			continue
		case <-ticker.C:
		}
		if !time.Now().Before(c.Lease()) {
			c.lose(ctx, failed) // the timer is about to say so
		}
		failed = c.extend(ctx)
		late, refused := errors.AsType[*LateError](failed)
		switch {
		case failed == nil:
			lapse.Reset(time.Until(c.Lease()))
			ticker.Reset(c.renewInterval())
		case ctx.Err() != nil:
			return
		case refused && c.completion.explains(late):
			return
		case refused:
			c.lose(ctx, late)
			return
		default:
			c.warn(ctx, "claim not renewed", failed)
			ticker.Reset(c.renewInterval() / 4)
		}
	}
}

// extend renews the lease. It waits until the next try or the end of the current lease at
// most.
func (c *claim) extend(ctx context.Context) error {
	until := leaseEnd(time.Now(), c.end, c.options.Lease)
	limit := c.renewInterval()
	if left := time.Until(c.Lease()); left > 0 {
		limit = min(limit, left)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c.setAsked(until)
	if err := c.renew(ctx, until); err != nil {
		return err
	}
	c.setLease(until)
	return nil
}

// renew asks the store. No caller catches a panic here, which would end the process.
func (c *claim) renew(ctx context.Context, until time.Time) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("idem: the store panicked: %v", value)
		}
	}()
	return c.store.Renew(ctx, c.answer.Claim, until)
}

// renewInterval returns the time between renewals. After a failure the next try comes
// after a quarter of it.
func (c *claim) renewInterval() time.Duration { return c.options.Lease / 3 }
