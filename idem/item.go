package idem

import (
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// Status is the state of a job as stored.
type Status string

const (
	// StatusInProgress is a job that is claimed, or that waits for the next claim after
	// its owner released it or died. The lease shows which.
	StatusInProgress Status = "INPROGRESS"
	// StatusCompleted is a job that is done.
	StatusCompleted Status = "COMPLETED"
	// StatusDead is a job that has failed for good.
	StatusDead Status = "DEAD"
)

// Item is everything that a store keeps of a job. Its times are rounded to the units
// named here.
type Item struct {
	ID     string
	Status Status
	// Expiration is when the store may forget the job, in seconds. A store that deletes
	// items late must still treat them as expired.
	Expiration time.Time
	// Lease is when the claim lapses, in milliseconds.
	Lease time.Time
	// Validation is the payload's hash behind the name of its scheme.
	Validation string
	// Owner is the fencing token of the last claim.
	Owner string
	// MessageID is the message of the last claim that ran the job.
	MessageID string
	// Epoch is how often the job was started again after its death.
	Epoch int
	// Claims is the number of claims in the epoch. Settled is the number of claims up to
	// the last one with a completed run, plus one for each released claim.
	Claims, Settled int
	// Crashes is the number of runs in a row that crashed the process. A running lone run
	// counts. CrashStack is the stack of the last panic.
	Crashes    int
	CrashStack string
	// Attempts is the number of failures that used up budget, Unclassified the number of
	// those with an error that no rule knew.
	Attempts, Unclassified int
	// History has the failed runs of all epochs.
	History handler.History
	// Steps are the parts of the job that are done in any epoch: their results
	// as JSON by their names. It is never changed in place.
	Steps map[string]string
	// DeadAt is the time of the verdict, in milliseconds.
	DeadAt time.Time
	// Verdict is the failure that ended the job.
	Verdict *handler.Failure
	// DeadLetterID is the id that the dead-letter queue confirmed, or [DroppedLetter].
	DeadLetterID string
}

// expired reports whether the job may be forgotten. An item without an expiration is
// kept.
func (i *Item) expired(now time.Time) bool {
	return !i.Expiration.IsZero() && i.Expiration.Unix() <= now.Unix()
}

// until returns when the claim expires. Other writers of the table claim a job without a
// lease if they know no deadline; their claim expires with the item.
func (i *Item) until() time.Time {
	if i.Lease.IsZero() {
		return i.Expiration
	}
	return i.Lease
}

// lapsed reports whether the claim has expired.
func (i *Item) lapsed(now time.Time) bool { return i.until().UnixMilli() <= now.UnixMilli() }

// holds reports whether claim c is the item's and is not settled.
func (i *Item) holds(c Claim) bool {
	return i.owned(c) == ownsRun
}

// claim returns the claim of the item's owner.
func (i *Item) claim() Claim {
	return Claim{
		ID: i.ID, Owner: i.Owner, MessageID: i.MessageID,
		Epoch: i.Epoch, Claims: i.Claims, Settled: i.Settled, Lease: i.Lease,
	}
}
