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
	// SettleRelease releases the job until its next attempt and stores the budget that
	// the failed run used.
	SettleRelease
	// SettleAbort releases the job without a change of its state.
	SettleAbort
	// SettleVerdict says that the job has failed for good and that its dead
	// letter is about to be sent.
	SettleVerdict
	// SettleConfirm says that the dead-letter queue has the letter. It ends no run, so it
	// does not change Settled.
	SettleConfirm
	// SettleCrash says that the run crashed the process. It does not change Settled,
	// since the process may be damaged.
	SettleCrash
	// SettleRenew extends the lease. It ends no run, so it does not change Settled. Only
	// Renew writes it.
	SettleRenew
	// SettleStep records a step. It ends no run, so it does not change Settled. Only
	// RecordStep writes it.
	SettleStep
	// SettleAlone counts a crash before a lone run. It ends no run, so it does not change
	// Settled.
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

// DroppedLetter is used in place of the id of a dead letter if the job is dropped: no
// letter is sent, and the verdict is confirmed at once.
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

// Needs returns the status that an item must have for the settlement to be written. The
// item must also have the claim's owner.
func (s *Settlement) Needs() Status {
	if s.Kind == SettleConfirm {
		return StatusDead
	}
	return StatusInProgress
}

// fits reports whether the settlement of claim c may be written over the item. A renewal
// that would shorten the lease may not.
func (s *Settlement) fits(item *Item, c Claim) bool {
	return item.react(s.Kind, c) == reactWrite && (s.Kind != SettleRenew || !s.Lease.Before(item.Lease))
}

// Refused returns the error of a settlement that could not be written over the item: nil
// if the item already has that content, otherwise a [*LateError]. A nil item means that
// there is none.
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

// Apply returns the item after the settlement of claim c. The item must belong to the
// claim's owner and have the status that the settlement needs.
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

// Settles returns the item's count of settled claims after a settlement of claim c that
// ends a run. A completed run settles all claims before it, since their outcome no longer
// matters. A released claim settles one.
func (s *Settlement) Settles(c Claim) int {
	if s.Kind == SettleAbort || c.Claims == 0 {
		return c.Settled + 1
	}
	return c.Claims
}

// LateError says that a claim was lost before its settlement was written: its lease
// expired and another delivery took over the job. Nothing was overwritten.
type LateError struct {
	// ID is the id of the job in the store.
	ID string
	// Kind is what could not be written.
	Kind SettlementKind
	// Status is the current status of the job; empty if the store has no item.
	Status Status
	// Until is when the lease of the current owner expires.
	Until time.Time
}

// Error says what was not written, and the status of the job.
func (e *LateError) Error() string {
	if e.Status == "" {
		return fmt.Sprintf("idem: %s of %q came too late: the job is gone from the store", e.Kind, e.ID)
	}
	return fmt.Sprintf("idem: %s of %q came too late: the job is %s under another claim", e.Kind, e.ID, e.Status)
}
