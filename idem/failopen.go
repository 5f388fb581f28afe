package idem

import (
	"context"
	"errors"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// unprotected is the claim of a job that runs while the store cannot be reached. Only a
// success counts. A failure uses no budget and is retried, since the budget cannot be
// stored and no dead letter is sent without a verdict.
type unprotected struct {
	ledger  *Ledger
	message *handler.Message
	key     string
	// down is the error of the store.
	down error
}

var _ handler.Claim = (*unprotected)(nil)

// Lease implements [handler.Claim]: there is no limit.
func (u *unprotected) Lease() time.Time { return time.Time{} }

// Lost implements [handler.Claim]: there is nothing to lose.
func (u *unprotected) Lost() <-chan struct{} { return nil }

// CountCrash implements [handler.Claim]. It counts nothing.
func (u *unprotected) CountCrash(context.Context, bool) error { return nil }

// Run implements [handler.Claim].
func (u *unprotected) Run(ctx context.Context) (context.Context, func()) {
	s := &steps{unprotected: true, claim: Claim{MessageID: u.message.MessageId}}
	s.prepare(u.ledger, u.key, nil)
	return &jobContext{Context: ctx, key: u.key, namespace: u.message.QueueName(), steps: s}, s.close
}

// Settle implements [handler.Claim].
func (u *unprotected) Settle(_ context.Context, e handler.Ending) *handler.Result {
	job := handler.Job{Key: u.key}
	switch e.Result.Outcome {
	case handler.OutcomeDone:
		return &handler.Result{
			Outcome: handler.OutcomeDone, Decision: fault.Decision{Reason: ReasonUnprotected}, Job: job,
		}
	case handler.OutcomeRetry, handler.OutcomeDead:
		failed := storeFailed(errors.Join(e.Result.Err, u.down))
		failed.Job = job
		if e.Result.Decision.RetryAfter > 0 { // else the receive count tells how long it waits
			failed.Delay = e.Result.Delay
		}
		return failed
	default:
		return e.Result
	}
}

// Confirm implements [handler.Claim]. No letter is sent without a verdict.
func (u *unprotected) Confirm(context.Context, string) error { return nil }
