package handler

import (
	"context"
	"time"
)

// Ledger remembers jobs between deliveries, so that each takes effect once. The
// processor calls it, and it never calls the processor. Package idem has one.
//
// Calls for different messages run side by side. For one message they come in the
// order Identify, Claim, and then those of [Claim]. A Ledger must be safe for
// concurrent use, and each call must end soon after its context.
type Ledger interface {
	// Identify names the job without any I/O. It calls user code, the key
	// function. An error is the outcome of the message, and nothing is claimed.
	Identify(ctx context.Context, m *Message) (Identity, error)
	// Ahead reports whether a first delivery may be claimed before a slot is free
	// for it. It is false where a claim without a result counts as a run.
	Ahead() bool
	// Claim asks for the job until end, the end of the invocation; zero for one
	// without a deadline, where the claim is renewed until it is settled.
	Claim(ctx context.Context, m *Message, id Identity, end time.Time) ClaimAnswer
}

// Identity names a job.
type Identity struct {
	// Key is the idempotency key as the user's function passes it on.
	Key string
	// ID is the job's id in the ledger: the same for all deliveries of the job.
	ID string
}

// ClaimAnswer is what the ledger answers to a request for a job.
type ClaimAnswer struct {
	// Decided is the outcome of a message that is not to run: duplicate, busy,
	// retry, or dead. It is nil if the job may run.
	Decided *Result
	// Claim is the right to the job. It is set if Decided is nil, and for a job that
	// died before and whose dead letter is to be sent now.
	Claim Claim
	// Job is what earlier runs left.
	Job Job
	// Unsettled is the number of claims before this one that ended without a result.
	Unsettled int
	// Refusal is why the job may not run again although it is claimed, such as a
	// crash loop. It is permanent, and Settle writes the verdict. Nil: it may run.
	Refusal error
}

// Claim is the right to run a job, or to send its dead letter, until its lease
// ends.
//
//nolint:interfacebloat // one claim, from its answer to its end
type Claim interface {
	// Lease is until when a run or a letter may begin, with a margin for the
	// difference of two clocks taken off. It moves while the claim is renewed. Zero
	// means without a limit.
	Lease() time.Time
	// Lost is closed when another delivery has the job. The context that Run gave
	// ends then. A nil channel means that the claim is not watched.
	Lost() <-chan struct{}
	// CountCrash writes that the run may crash the process, before a run that is
	// alone in it; with false it takes that back. After an error the job does not
	// run.
	CountCrash(ctx context.Context, counted bool) error
	// Run returns the context for middleware and function, with the key in it. Stop
	// is called when the run has returned or is left behind.
	Run(ctx context.Context) (run context.Context, stop func())
	// Settle ends the claim by one write, and returns the outcome to report: that of
	// the ending, done where the job is completed, unrecorded or busy where the write
	// failed or came too late. It is called once.
	Settle(ctx context.Context, e Ending) *Result
	// Confirm writes the id of the dead letter. It is not called for dropped jobs.
	Confirm(ctx context.Context, deadLetterID string) error
}

// Ending is how a delivery ended in this process.
type Ending struct {
	// Result is the outcome. For OutcomeDeferred, OutcomeBusy and OutcomeUnrecorded
	// the claim is given back.
	Result *Result
	// Started reports whether the user's function was called.
	Started bool
	// Alone reports whether a crash was counted by CountCrash and not taken back.
	Alone bool
	// Running reports whether its goroutine was left behind, so that the lease has to
	// stay as it is.
	Running bool
	// Blamed reports whether the end counts as a crash of the job: a panic of its
	// function, or one that ignored its cancellation after it had its time.
	Blamed bool
}
