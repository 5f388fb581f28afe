package idem

import (
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/deadline"
)

// Decision is what a store must do for a [Request].
type Decision struct {
	// Write is the item to store if the stored item has not changed meanwhile; nil if
	// nothing is written.
	Write *Item
	// Answer is valid once Write is stored.
	Answer Answer
}

// Decide is the whole protocol of claiming. It returns what a store does for request r if
// it holds item; a nil item means that it holds none. All stores use it, so they differ
// only in how they store.
func Decide(item *Item, r Request) Decision {
	r.Lease, r.Expires = r.Lease.Truncate(time.Millisecond), r.Expires.Truncate(time.Second)
	state := item.state(r.Now)
	switch actions[state][r.kind(item, state)] {
	case actRepeat:
		return Decision{Answer: lostAnswer(item)}
	case actBegin:
		return r.begin(Item{Epoch: r.Epoch})
	case actTakeOver:
		return r.begin(*item)
	case actReopen:
		return r.begin(Item{Epoch: r.nextEpoch(item), History: item.History, Steps: item.Steps})
	case actTakeLetter:
		next := *item
		next.Owner, next.Lease, next.Expiration = r.Owner, r.Lease, r.Expires
		return Decision{Write: &next, Answer: sendAnswer(&next)}
	case actDuplicate:
		return Decision{Answer: Answer{Kind: AnswerDuplicate, Status: item.Status}}
	case actBusy:
		return Decision{Answer: Answer{Kind: AnswerBusy, Status: item.Status, Until: item.until()}}
	default:
		return Decision{Answer: Answer{Kind: AnswerConflict, Status: item.Status}}
	}
}

// kind classifies the request against an item in that state.
func (r *Request) kind(item *Item, state itemState) requestKind {
	switch {
	case item != nil && item.Owner == r.Owner:
		return requestRepeated
	case state == stateUnknown:
		return requestCopy
	case r.nextEpoch(item) > item.Epoch:
		return requestNewEpoch
	case r.conflicts(item):
		return requestConflict
	default:
		return requestCopy
	}
}

// begin claims the job. The new item keeps the other fields of base.
func (r *Request) begin(base Item) Decision {
	next := base
	next.ID, next.Status, next.Owner, next.MessageID = r.ID, StatusInProgress, r.Owner, r.MessageID
	next.Validation, next.Lease, next.Expiration = r.Validation, r.Lease, r.Expires
	next.Claims++
	return Decision{Write: &next, Answer: acquiredAnswer(&next)}
}

// nextEpoch returns the epoch that the request starts after a death. For a replay it is
// the epoch after the death in its record. For a message sent after the death it is the
// item's next one; if the time is in doubt, the message counts as sent after it. It is 0
// for an ordinary copy and for the message that died.
func (r *Request) nextEpoch(item *Item) int {
	if item.Status != StatusDead || r.MessageID == item.MessageID {
		return 0
	}
	if r.SentAt.IsZero() || !r.SentAt.Before(item.DeadAt.Add(-deadline.ClockMargin)) {
		return max(r.Epoch, item.Epoch+1)
	}
	return r.Epoch
}

// conflicts reports whether the key was used for another payload. A message never
// conflicts with itself. Hashes of two schemes are not compared.
func (r *Request) conflicts(item *Item) bool {
	if item.Validation == r.Validation || item.MessageID == r.MessageID {
		return false
	}
	stored, _, _ := strings.Cut(item.Validation, ":")
	asked, _, _ := strings.Cut(r.Validation, ":")
	return stored == asked
}

// lostAnswer returns the answer that the item's owner got before.
func lostAnswer(item *Item) Answer {
	switch item.Status {
	case StatusDead:
		return sendAnswer(item)
	case StatusCompleted:
		return Answer{Kind: AnswerDuplicate, Status: item.Status}
	default:
		return acquiredAnswer(item)
	}
}

// acquiredAnswer returns the answer for the item's new owner, with the state from before
// its claim.
func acquiredAnswer(item *Item) Answer {
	return Answer{
		Kind: AnswerAcquired, Status: item.Status, Claim: item.claim(),
		Job: item.job(), CrashStack: item.CrashStack, Steps: item.Steps,
		Claims: item.Claims - 1, Settled: item.Settled,
	}
}

// sendAnswer returns the answer for the item's new owner, with the verdict to send.
func sendAnswer(item *Item) Answer {
	return Answer{
		Kind: AnswerSend, Status: item.Status, Claim: item.claim(), Job: item.job(),
		Claims: item.Claims, Settled: item.Settled, Failure: item.Verdict,
	}
}

// job returns the job state for the user's function.
func (i *Item) job() handler.Job {
	return handler.Job{
		Epoch: i.Epoch, Attempts: i.Attempts, Unclassified: i.Unclassified,
		Crashes: i.Crashes, History: i.History,
	}
}
