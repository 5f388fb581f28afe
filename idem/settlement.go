package idem

import (
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// SettlementKind names a write about a claim. The set is closed.
type SettlementKind uint8

const (
	// SettleComplete says that the job is done.
	SettleComplete SettlementKind = iota + 1
	// SettleRelease gives the job back until its next attempt, with what the
	// failed run cost.
	SettleRelease
	// SettleAbort gives the job back as it was.
	SettleAbort
	// SettleVerdict says that the job has failed for good and that its dead
	// letter is about to be sent.
	SettleVerdict
	// SettleConfirm says that the dead-letter queue has the job. It ends no
	// run, so it leaves Settled as it is.
	SettleConfirm
	// SettleCrash says that the run ended in a panic. It leaves Settled as it
	// is, since the process may be damaged.
	SettleCrash
	// SettleRenew makes the claim hold longer. It ends no run, so it leaves
	// Settled as it is. Only Renew writes it.
	SettleRenew
	// SettleStep records a part of the job. It ends no run, so it leaves
	// Settled as it is. Only RecordStep writes it.
	SettleStep
	// SettleAlone counts a crash ahead of a run that may end its process without
	// a word. It ends no run, so it leaves Settled as it is.
	SettleAlone
)

var settlementNames = [...]string{
	"invalid", "complete", "release", "abort", "verdict", "confirm", "crash", "renew", "step", "alone",
}

// String names the kind.
func (k SettlementKind) String() string {
	if int(k) < len(settlementNames) {
		return settlementNames[k]
	}
	return settlementNames[0]
}

// DroppedLetter stands for the id of a dead letter where the job is dropped: no
// letter is sent, and its death is confirmed as it is written.
const DroppedLetter = "dropped"

// Settlement is a write about a claim. Its values are absolute, so that it can
// be repeated.
type Settlement struct {
	Kind SettlementKind
	// Crashes replaces the item's count, for every kind but SettleConfirm and
	// SettleRenew.
	Crashes int
	// Lease replaces the item's, for every kind but SettleComplete, SettleConfirm
	// and SettleAlone: the earliest time of the next claim, or for a verdict of
	// the next send. SettleRenew never makes it earlier.
	Lease time.Time
	// Expires is when the store may forget the job, for the kinds that end a run:
	// SettleComplete, SettleRelease, SettleAbort and SettleVerdict.
	Expires time.Time
	// Attempts, Unclassified and History replace the item's, for
	// SettleRelease and SettleVerdict.
	Attempts, Unclassified int
	History                handler.History
	// Failure and DeadAt are the verdict and its time, for SettleVerdict.
	Failure *handler.Failure
	DeadAt  time.Time
	// DeadLetterID is what the dead-letter queue answered, for SettleConfirm. For
	// SettleVerdict it is empty, or [DroppedLetter] for a job that has no letter.
	DeadLetterID string
	// CrashStack is where the run panicked, for SettleCrash.
	CrashStack string
}

// Needs is the status that an item must have, beside the claim's owner, for
// the settlement to be written.
func (s *Settlement) Needs() Status {
	if s.Kind == SettleConfirm {
		return StatusDead
	}
	return StatusInProgress
}

// fits tells whether the settlement of claim c may be written over the item. A
// renewal that would shorten the lease may not.
func (s *Settlement) fits(item *Item, c Claim) bool {
	return item.react(s.Kind, c) == reactWrite && (s.Kind != SettleRenew || !s.Lease.Before(item.Lease))
}

// Refused reads the refusal of a settlement from the item that stands in its
// way, nil if there is none: nil if the item says what the settlement wanted
// to say, a [*LateError] otherwise.
func (s *Settlement) Refused(item *Item, c Claim) error {
	if item == nil {
		return &LateError{ID: c.ID, Kind: s.Kind}
	}
	already := item.react(s.Kind, c) == reactAlready || s.Kind == SettleRenew && item.holds(c)
	if already {
		return nil
	}
	return &LateError{ID: c.ID, Kind: s.Kind, Status: item.Status, Until: item.Lease}
}

// Apply gives the item as the settlement of claim c leaves it. The item must
// be the owner's and have the status that the settlement needs.
func (s *Settlement) Apply(item Item, c Claim) Item {
	switch s.Kind {
	case SettleConfirm:
		item.DeadLetterID = s.DeadLetterID
		return item
	case SettleCrash:
		item.Crashes, item.CrashStack, item.Lease = s.Crashes, s.CrashStack, s.Lease.Truncate(time.Millisecond)
		return item
	case SettleRenew:
		item.Lease = s.Lease.Truncate(time.Millisecond)
		return item
	case SettleAlone:
		item.Crashes = s.Crashes
		return item
	case SettleComplete:
		item.Status = StatusCompleted
	case SettleRelease:
		item.Attempts, item.Unclassified, item.History = s.Attempts, s.Unclassified, s.History
	case SettleVerdict:
		item.Status, item.MessageID = StatusDead, c.MessageID
		item.Attempts, item.Unclassified, item.History = s.Attempts, s.Unclassified, s.History
		item.Verdict, item.DeadAt = s.Failure, s.DeadAt.Truncate(time.Millisecond)
		item.DeadLetterID = s.DeadLetterID
	}
	if s.Kind != SettleComplete {
		item.Lease = s.Lease.Truncate(time.Millisecond)
	}
	item.Settled, item.Crashes, item.Expiration = s.Settles(c), s.Crashes, s.Expires.Truncate(time.Second)
	return item
}

// Settles is the item's count of settled claims after a settlement of claim c that
// ends a run. A run that came to its end settles all claims before it: what they did
// is no question any more. A claim that was given back settles one.
func (s *Settlement) Settles(c Claim) int {
	if s.Kind == SettleAbort || c.Claims == 0 {
		return c.Settled + 1
	}
	return c.Claims
}

// LateError says that a claim was lost before its settlement was written:
// its lease lapsed and another took the job over. Nothing was overwritten.
type LateError struct {
	// ID is the job's.
	ID string
	// Kind is what could not be written.
	Kind SettlementKind
	// Status is where the job stands now; empty if the store has forgotten it.
	Status Status
	// Until is when the lease of the present owner lapses.
	Until time.Time
}

// Error tells what was lost to whom.
func (e *LateError) Error() string {
	if e.Status == "" {
		return fmt.Sprintf("idem: %s of %q came too late: the job is gone from the store", e.Kind, e.ID)
	}
	return fmt.Sprintf("idem: %s of %q came too late: the job is %s under another claim", e.Kind, e.ID, e.Status)
}
