package idem

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// Completion is the write that completes a job, for stores that let the user's own
// transaction make it. Package idem/dynamo has the functions for users. It is safe for
// concurrent use.
type Completion struct {
	store Store
	claim Claim
	key   string
	keep  time.Duration
	// once sets expires at the first use, so that a repeated transaction is the same
	// transaction.
	once    sync.Once
	expires time.Time

	handedOut, committed atomic.Bool
}

type completionKey struct{}

// CompletionOf returns the completion of the job of ctx. It is nil without a [Ledger],
// without a claim, and within a [Step], since the step could not be recorded any more.
func CompletionOf(ctx context.Context) *Completion {
	c, _ := ctx.Value(completionKey{}).(*Completion)
	if c == nil || c.key != Key(ctx) {
		return nil
	}
	return c
}

// Store returns the store that has the job.
func (c *Completion) Store() Store { return c.store }

// Claim returns the claim under which the job runs. Its lease may have been renewed
// since.
func (c *Completion) Claim() Claim { return c.claim }

// HandOut returns the settlement to write, the same at every call. It must be written
// under the conditions of [Store.Settle].
func (c *Completion) HandOut() Settlement {
	c.handedOut.Store(true)
	c.once.Do(func() { c.expires = time.Now().Add(c.keep) })
	return Settlement{Kind: SettleComplete, Expires: c.expires}
}

// Commit says that the settlement is written: the job is done, and
// the [Ledger] writes nothing more about it.
func (c *Completion) Commit() { c.committed.Store(true) }

// Committed reports whether [Completion.Commit] was called. It is false for a nil
// Completion.
func (c *Completion) Committed() bool { return c != nil && c.committed.Load() }

// Contended returns the outcome of a job after its transaction conflicted with another
// write to the job's item: a retry after a second that uses no budget.
func (c *Completion) Contended(err error) error {
	return &handler.Result{
		Outcome:  handler.OutcomeRetry,
		Decision: fault.Decision{Class: fault.ClassRetryable, Reason: fault.ReasonConflict},
		Until:    time.Now(),
		Err:      err,
	}
}

// explains reports whether a renewal may have been refused because of the transaction.
// The job then goes on: if another delivery has completed it instead, the transaction
// will be refused too.
func (c *Completion) explains(late *LateError) bool {
	return late.Status == StatusCompleted && c.handedOut.Load()
}
