package idem

import (
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// Status is where a job stands.
type Status string

const (
	// StatusInProgress is a job that is claimed, or was released or left by its
	// owner and waits for the next claim: its lease tells which.
	StatusInProgress Status = "INPROGRESS"
	// StatusCompleted is a job that is done.
	StatusCompleted Status = "COMPLETED"
	// StatusDead is a job that has failed for good.
	StatusDead Status = "DEAD"
)

// Item is all that a store keeps of a job. Its times hold no more than the
// units that are named here.
type Item struct {
	ID     string
	Status Status
	// Expiration is when the store may forget the job, in seconds. A store
	// that deletes late must go by it all the same.
	Expiration time.Time
	// Lease is when the claim lapses, in milliseconds.
	Lease time.Time
	// Validation is the payload's hash behind the name of its scheme.
	Validation string
	// Owner is the fence of the last claim.
	Owner string
	// MessageID is the message of the last claim that ran the job.
	MessageID string
	// Epoch counts how often the job was begun anew after a death.
	Epoch int
	// Claims counts the claims of the epoch, Settled those up to the last whose run
	// ended, and one for each that was given back.
	Claims, Settled int
	// Crashes counts the runs in a row that ended with the process, the one under
	// way included if it runs alone. CrashStack is where the last of them panicked.
	Crashes    int
	CrashStack string
	// Attempts counts the failures that cost budget, Unclassified those of
	// them whose class no rule knew.
	Attempts, Unclassified int
	// History tells of the failed runs of all epochs.
	History handler.History
	// Steps are the parts of the job that are done in any epoch: their results
	// as JSON by their names. It is never changed in place.
	Steps map[string]string
	// DeadAt is when the verdict was given, in milliseconds.
	DeadAt time.Time
	// Verdict is the failure that ended the job.
	Verdict *handler.Failure
	// DeadLetterID is the id that the dead-letter queue confirmed, or [DroppedLetter].
	DeadLetterID string
}

// expired tells whether the job may be forgotten. An item without an
// expiration stays.
func (i *Item) expired(now time.Time) bool {
	return !i.Expiration.IsZero() && i.Expiration.Unix() <= now.Unix()
}

// until is when the claim lapses: without a lease, as other writers of the table
// claim a job where they know no deadline, when the item expires.
func (i *Item) until() time.Time {
	if i.Lease.IsZero() {
		return i.Expiration
	}
	return i.Lease
}

// lapsed tells whether the claim has come to its end.
func (i *Item) lapsed(now time.Time) bool { return i.until().UnixMilli() <= now.UnixMilli() }

// holds tells whether claim c is the item's and was not settled.
func (i *Item) holds(c Claim) bool {
	return i.owned(c) == ownsRun
}

// claim is the right that the item's owner has.
func (i *Item) claim() Claim {
	return Claim{
		ID: i.ID, Owner: i.Owner, MessageID: i.MessageID,
		Epoch: i.Epoch, Claims: i.Claims, Settled: i.Settled, Lease: i.Lease,
	}
}
