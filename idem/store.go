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
	// Acquire claims a job or tells why it cannot be claimed. Asked again with
	// the same request after an answer that was lost, it gives that answer.
	Acquire(ctx context.Context, r Request) (Answer, error)
	// Settle writes what became of a claim. It gives a [*LateError] when the
	// claim is lost and the item belongs to another by now; nothing is written
	// then. Asked again after a lost answer it gives nil.
	Settle(ctx context.Context, c Claim, s Settlement) error
	// Renew makes a claim last until then, kept in milliseconds, and changes nothing
	// else. It is one conditional write: the item must have the claim's owner, be in
	// progress, and have the claim's count of settled claims. It gives a [*LateError]
	// otherwise. It never shortens a lease: asked for an earlier end than the item has
	// by now, it writes nothing and gives nil, so that a request which arrives late
	// does no harm. Asked again after a lost answer it gives nil.
	Renew(ctx context.Context, c Claim, until time.Time) error
	// RecordStep adds a step to the job's item and changes nothing else. It is one
	// conditional write, with the conditions and the error of Renew. A step that the
	// item has stays as it is. Asked again after a lost answer it gives nil.
	RecordStep(ctx context.Context, c Claim, s StepRecord) error
}

// Request asks for a claim.
type Request struct {
	// ID is the job's id in the store: its namespace and key.
	ID string
	// Owner is the fence: a token that no other request has.
	Owner string
	// MessageID is the id of the delivered message, and SentAt is when it was
	// sent; zero where SQS did not say.
	MessageID string
	SentAt    time.Time
	// Validation is the hash of the payload behind the name of its scheme and
	// a colon. Hashes of different schemes are not compared.
	Validation string
	// Epoch is the epoch that a replay calls for: one more than the one in
	// which its dead-letter record says that the job died; 0 without a record.
	Epoch int
	// Now is the time of the request.
	Now time.Time
	// Lease is when the claim lapses, kept in milliseconds.
	Lease time.Time
	// Expires is when the store may forget the job, kept in seconds.
	Expires time.Time
}

// AnswerKind says what a delivery may do. The set is closed.
type AnswerKind uint8

const (
	// AnswerAcquired lets the job run under [Answer.Claim].
	AnswerAcquired AnswerKind = iota + 1
	// AnswerDuplicate says that the job has its outcome.
	AnswerDuplicate
	// AnswerBusy says that another delivery holds the job until [Answer.Until].
	AnswerBusy
	// AnswerConflict says that the key belongs to another payload.
	AnswerConflict
	// AnswerSend says that the job is dead and its dead letter was never
	// confirmed: it is to be sent under [Answer.Claim] without running the job.
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

// Answer is what a store says to a [Request].
type Answer struct {
	Kind AnswerKind
	// Status is the item's as the answer leaves it.
	Status Status
	// Claim is set if Kind is AnswerAcquired or AnswerSend.
	Claim Claim
	// Job is the state that earlier runs left. Its Key is empty: a store knows ids.
	Job handler.Job
	// CrashStack is the stack of the last run that panicked.
	CrashStack string
	// Steps are the parts of the job that are done: their results as JSON by
	// their names; set if Kind is AnswerAcquired. It is not to be changed.
	Steps map[string]string
	// Claims counts the claims before this one, Settled those of them whose
	// run came to an end. The rest may have died with their process.
	Claims, Settled int
	// Until is when the lease of the delivery that holds the job lapses; set
	// if Kind is AnswerBusy.
	Until time.Time
	// Failure is the stored verdict; set if Kind is AnswerSend.
	Failure *handler.Failure
}

// Claim is the right to run a job, or to send its dead letter, until its lease
// lapses or another takes it over.
type Claim struct {
	// ID and Owner are those of the request.
	ID, Owner string
	// MessageID is the id of the message that the claim was made for.
	MessageID string
	// Epoch counts how often the job was begun anew after a death.
	Epoch int
	// Claims is the item's count with this claim, Settled that of settled claims before
	// this one is settled.
	Claims, Settled int
	// Lease is when the claim lapses.
	Lease time.Time
}
