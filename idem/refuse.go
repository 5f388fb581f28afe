package idem

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// Reasons that the middleware gives.
const (
	// ReasonCompleted says that the job was done at an earlier delivery.
	ReasonCompleted = "completed"
	// ReasonDeadBefore says that the job is in the dead-letter queue already.
	ReasonDeadBefore = "dead_before"
	// ReasonClaimed says that another delivery holds the job.
	ReasonClaimed = "claimed"
	// ReasonConflict says that the key was used for another payload.
	ReasonConflict = "key_conflict"
	// ReasonLate says that the claim was lost before the outcome was written.
	ReasonLate = "late"
	// ReasonCrashLoop says that the job ends its process whenever it runs: by two
	// panics in a row, or three deaths without a word.
	ReasonCrashLoop = "crash_loop"
	// ReasonUnknownOutcome says that the job may have taken effect in a run that
	// ended without a result. See [Options].
	ReasonUnknownOutcome = "unknown_outcome"
	// ReasonUnprotected says that the job is done, without the store. See
	// [Options].
	ReasonUnprotected = "unprotected"
)

var (
	errConflict = errors.New("the idempotency key was used for another payload; " +
		"two jobs need two keys, and a corrected job needs a new one")
	errAnswer = errors.New("the store gave an answer without a meaning")
)

// refused is the outcome of a delivery that may not run its job.
func refused(ctx context.Context, m *handler.Message, a Answer) error {
	switch a.Kind {
	case AnswerDuplicate:
		reason := ReasonCompleted
		if a.Status == StatusDead {
			reason = ReasonDeadBefore
		}
		return &handler.Result{
			Outcome: handler.OutcomeDuplicate, Decision: fault.Decision{Reason: reason}, Job: m.Job,
		}
	case AnswerBusy:
		return busy(m, ReasonClaimed, a.Until)
	case AnswerConflict:
		return m.Resolve(ctx, fault.Permanent(errConflict, fault.Reason(ReasonConflict)))
	default:
		return storeFailed(m, fmt.Errorf("idem: acquire: %w: %s", errAnswer, a.Kind))
	}
}

func busy(m *handler.Message, reason string, until time.Time) *handler.Result {
	return &handler.Result{
		Outcome: handler.OutcomeBusy, Decision: fault.Decision{Reason: reason}, Delay: rest(m.Random, until), Job: m.Job,
	}
}

// rest is the time until a lease lapses with up to a fifth more, so that those
// who wait for it come one by one, and at least a second. It is rounded by chance,
// which keeps short rests apart, but never to before the lease's end: the message
// would find the job claimed and have used up a receive. So what is left of it
// there stays a fraction, which is rounded up when the message is hidden.
func rest(random func() float64, until time.Time) time.Duration {
	left := max(time.Until(until), time.Second)
	return max(backoff.WholeSeconds(backoff.Spread(left, leaseShare, random), random), left)
}

const leaseShare = 0.20

// storeFailed comes back later at no cost: without the store nothing protects
// the job, and nothing that it costs could be written down.
func storeFailed(m *handler.Message, err error) *handler.Result {
	delay := storeBackoff.Delay(m.ReceiveCount(), m.Random)
	return &handler.Result{
		Outcome:  handler.OutcomeRetry,
		Decision: fault.Decision{Class: fault.ClassRetryable, Reason: fault.ReasonStore},
		Delay:    max(backoff.WholeSeconds(delay, m.Random), time.Second),
		Err:      err,
		Job:      m.Job,
	}
}

var storeBackoff = backoff.Exponential{Cap: 5 * time.Minute}

// hindrance is why a job may not start now under a lease; empty if it may.
func hindrance(ctx context.Context, lease time.Time) string {
	if !time.Now().Before(lease.Add(-handler.ClockMargin)) {
		return handler.ReasonNoTime
	}
	return cutOff(ctx)
}

func cutOff(ctx context.Context) string {
	switch ctx.Err() {
	case nil:
		return ""
	case context.DeadlineExceeded:
		return handler.ReasonNoTime
	default:
		return handler.ReasonCancelled
	}
}
