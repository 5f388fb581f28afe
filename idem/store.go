package idem

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// Store keeps one [Item] per job. It must be safe for concurrent use by many
// processes, and each of its calls must be one atomic step. It reads no clock:
// all times come with the request.
//
//nolint:interfacebloat // a store without one of its calls would lose claims or steps
type Store interface {
	// Acquire claims a job or returns why it cannot be claimed. A repeated request
	// returns the same answer, in case the first one was lost.
	Acquire(ctx context.Context, r Request) (Answer, error)
	// Settle writes the outcome of a claim. If the claim is lost, so that the item
	// belongs to another one, it writes nothing and returns a [*LateError]. A repeated
	// call after a lost answer returns nil.
	Settle(ctx context.Context, c Claim, s Settlement) error
	// Renew extends a claim until the given time, stored in milliseconds, and changes
	// nothing else. It is one conditional write: the item must have the claim's owner, be
	// in progress, and have the claim's count of settled claims. Otherwise it returns a
	// [*LateError]. It never shortens a lease: if the item has a later end already, it
	// writes nothing and returns nil, so that a delayed request does no harm. A repeated
	// call after a lost answer returns nil.
	Renew(ctx context.Context, c Claim, until time.Time) error
	// RecordStep adds a step to the job's item and changes nothing else. It is one
	// conditional write, with the conditions and the error of Renew. If the item has the
	// step already, it does not change. A repeated call after a lost answer returns nil.
	RecordStep(ctx context.Context, c Claim, s StepRecord) error
}

// Request asks for a claim.
type Request struct {
	// ID is the job's id in the store: its namespace and key.
	ID string
	// Owner is the fencing token. Every request has another one.
	Owner string
	// MessageID is the id of the delivered message, and SentAt is when it was
	// sent; zero where SQS did not say.
	MessageID string
	SentAt    time.Time
	// Validation is the hash of the payload behind the name of its scheme and
	// a colon. Hashes of different schemes are not compared.
	Validation string
	// Epoch is the epoch that a replay starts: one more than the epoch of the death in
	// its dead-letter record; 0 without a record.
	Epoch int
	// Now is the time of the request.
	Now time.Time
	// Lease is when the claim lapses, kept in milliseconds.
	Lease time.Time
	// Expires is when the store may forget the job, kept in seconds.
	Expires time.Time
}

// AnswerKind is the kind of an Answer. The set is closed.
type AnswerKind uint8

const (
	// AnswerAcquired lets the job run under [Answer.Claim].
	AnswerAcquired AnswerKind = iota + 1
	// AnswerDuplicate says that the job is completed, or dead with a confirmed letter.
	AnswerDuplicate
	// AnswerBusy says that another delivery holds the job until [Answer.Until].
	AnswerBusy
	// AnswerConflict says that the key was used for another payload.
	AnswerConflict
	// AnswerSend says that the job is dead and its dead letter was never confirmed. The
	// letter must be sent under [Answer.Claim], and the job does not run.
	AnswerSend
)

var answerNames = [...]string{"invalid", "acquired", "duplicate", "busy", "conflict", "send"}

// String names the kind.
func (k AnswerKind) String() string {
	if int(k) < len(answerNames) {
		return answerNames[k]
	}
	return answerNames[0]
}

// Answer is the answer of a store to a [Request].
type Answer struct {
	Kind AnswerKind
	// Status is the status of the item after the request.
	Status Status
	// Claim is set if Kind is AnswerAcquired or AnswerSend.
	Claim Claim
	// Job is the job state that earlier runs left. Its Key is empty: a store knows ids.
	Job handler.Job
	// CrashStack is the stack of the last run that panicked.
	CrashStack string
	// Steps are the parts of the job that are done: their results as JSON by
	// their names; set if Kind is AnswerAcquired. It is not to be changed.
	Steps map[string]string
	// Claims is the number of claims before this one, Settled the number of those with a
	// completed or released run. The others may have died with their process.
	Claims, Settled int
	// Until is when the lease of the delivery that holds the job expires; set if Kind is
	// AnswerBusy.
	Until time.Time
	// Failure is the stored verdict; set if Kind is AnswerSend.
	Failure *handler.Failure
}

// Claim is the right to run a job, or to send its dead letter, until its lease expires or
// another delivery takes over.
type Claim struct {
	// ID and Owner are those of the request.
	ID, Owner string
	// MessageID is the id of the message that the claim was made for.
	MessageID string
	// Epoch is how often the job was started again after its death.
	Epoch int
	// Claims is the item's claim count, this claim included. Settled is the item's count
	// of settled claims before this one is settled.
	Claims, Settled int
	// Lease is when the claim lapses.
	Lease time.Time
}
