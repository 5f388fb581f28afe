package idem

import (
	"errors"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// Reasons set by the ledger.
const (
	// ReasonCompleted says that the job was done at an earlier delivery.
	ReasonCompleted = "completed"
	// ReasonDeadBefore says that the job is in the dead-letter queue already.
	ReasonDeadBefore = "dead_before"
	// ReasonClaimed says that another delivery has claimed the job.
	ReasonClaimed = "claimed"
	// ReasonConflict says that the key was used for another payload.
	ReasonConflict = "key_conflict"
	// ReasonLate says that the claim was lost before the outcome was written.
	ReasonLate = "late"
	// ReasonCrashLoop says that the job crashes its process whenever it runs: by two
	// panics in a row, or by four ends of the process without a panic.
	ReasonCrashLoop = "crash_loop"
	// ReasonUnknownOutcome says that the job may have taken effect in a run that ended
	// without a result. See [Options].
	ReasonUnknownOutcome = "unknown_outcome"
	// ReasonUnprotected says that the job is done, without the store. See [Options].
	ReasonUnprotected = "unprotected"
)

var (
	errConflict = errors.New("the idempotency key was used for another payload; " +
		"two jobs need two keys, and a corrected job needs a new one")
	errAnswer = errors.New("the store gave an answer without a meaning")
)

// refused returns the outcome of a delivery that may not run its job.
func refused(a Answer) *handler.Result {
	switch a.Kind {
	case AnswerDuplicate:
		reason := ReasonCompleted
		if a.Status == StatusDead {
			reason = ReasonDeadBefore
		}
		return &handler.Result{
			Outcome: handler.OutcomeDuplicate, Decision: fault.Decision{Reason: reason}, Job: a.Job,
		}
	case AnswerBusy:
		return busy(ReasonClaimed, a.Until, a.Job)
	case AnswerConflict:
		err := fault.Permanent(errConflict, fault.WithReason(ReasonConflict))
		return &handler.Result{
			Outcome:  handler.OutcomeDead,
			Decision: fault.Decision{Class: fault.ClassPermanent, Reason: ReasonConflict},
			Err:      err,
			Job:      a.Job,
		}
	default:
		return storeFailed(fmt.Errorf("idem: acquire: %w: %s", errAnswer, a.Kind))
	}
}

func busy(reason string, until time.Time, job handler.Job) *handler.Result {
	return &handler.Result{
		Outcome: handler.OutcomeBusy, Decision: fault.Decision{Reason: reason}, Until: nonZero(until), Job: job,
	}
}

// nonZero returns t, or the current time if t is zero, since zero means no time.
func nonZero(t time.Time) time.Time {
	if t.IsZero() {
		return time.Now()
	}
	return t
}

// storeFailed returns a retry that uses no budget: without the store the job is not
// protected, and attempts cannot be recorded.
func storeFailed(err error) *handler.Result {
	return &handler.Result{
		Outcome:  handler.OutcomeRetry,
		Decision: fault.Decision{Class: fault.ClassRetryable, Reason: fault.ReasonStore},
		Err:      err,
	}
}

func deferred(reason string) *handler.Result {
	return &handler.Result{Outcome: handler.OutcomeDeferred, Decision: fault.Decision{Reason: reason}}
}
