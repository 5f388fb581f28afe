package handler

import (
	"context"
	"time"
)

// Ledger stores the state of jobs between deliveries, so that each job takes effect once.
// The processor calls it, and it never calls the processor. Package idem has one.
//
// Calls for different messages run concurrently. For one message the order is Identify,
// Claim, and then the methods of [Claim]. A Ledger must be safe for concurrent use. Each
// call must end soon after its context.
type Ledger interface {
	// Identify returns the identity of the job without any I/O. It calls user code, the
	// key function. An error is the outcome of the message, and nothing is claimed.
	Identify(ctx context.Context, m *Message) (Identity, error)
	// Ahead reports whether a first delivery may be claimed before a slot is free
	// for it. It is false where a claim without a result counts as a run.
	Ahead() bool
	// Claim claims the job until end, the end of the invocation. end is zero without a
	// deadline; the claim is then renewed until it is settled.
	Claim(ctx context.Context, m *Message, id Identity, end time.Time) ClaimAnswer
}

// Identity identifies a job.
type Identity struct {
	// Key is the idempotency key that the user's function passes on.
	Key string
	// ID is the job's id in the ledger: the same for all deliveries of the job.
	ID string
}

// ClaimAnswer is the answer of the ledger to a claim request.
type ClaimAnswer struct {
	// Decided is the outcome of a message that does not run: duplicate, busy, retry, or
	// dead. It is nil if the job may run.
	Decided *Result
	// Claim is the claim on the job. It is set if Decided is nil, and for a job that died
	// before, if its dead letter must be sent now.
	Claim Claim
	// Job is the job state that earlier runs left.
	Job Job
	// Unsettled is the number of claims before this one that ended without a result.
	Unsettled int
	// Refusal is why a claimed job may not run again, such as a crash loop. It is
	// permanent, and Settle writes the verdict. Nil means that it may run.
	Refusal error
}

// Claim is the right to run a job, or to send its dead letter, until its lease
// ends.
//
//nolint:interfacebloat // one claim, from its answer to its end
type Claim interface {
	// Lease returns the time until which a run or a letter may begin. A margin for the
	// difference of two clocks is subtracted. The time moves while the claim is renewed.
	// Zero means no limit.
	Lease() time.Time
	// Lost returns a channel that is closed when the claim is lost to another delivery.
	// The context that Run returned ends then. A nil channel means that the claim is not
	// watched.
	Lost() <-chan struct{}
	// CountCrash counts a crash in advance, before a lone run. With false it takes that
	// back. After an error the job does not run.
	CountCrash(ctx context.Context, counted bool) error
	// Run returns the context for middleware and function, which contains the key. stop
	// is called when the run has returned or is abandoned.
	Run(ctx context.Context) (run context.Context, stop func())
	// Settle ends the claim with one write and returns the outcome to report: that of the
	// ending, done if the job is already completed, unrecorded or busy if the write
	// failed or came too late. It is called once.
	Settle(ctx context.Context, e Ending) *Result
	// Confirm stores the id of the dead letter. It is not called for dropped jobs.
	Confirm(ctx context.Context, deadLetterID string) error
}

// Ending is the end of a delivery in this process.
type Ending struct {
	// Result is the outcome. For OutcomeDeferred, OutcomeBusy and OutcomeUnrecorded the
	// claim is released.
	Result *Result
	// Started reports whether the user's function was called.
	Started bool
	// Alone reports whether a crash was counted by CountCrash and not taken back.
	Alone bool
	// Running reports whether the user code may still run because it was abandoned. The
	// lease must not change then.
	Running bool
	// Blamed reports whether the end counts as a crash of the job: a panic of its
	// function, or one that ignored its cancellation after it had its time.
	Blamed bool
}
