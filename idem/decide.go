package idem

import (
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// Decision is what a store has to do for a [Request].
type Decision struct {
	// Write is the item to store if nobody has changed it meanwhile; nil if
	// nothing is to be written.
	Write *Item
	// Answer holds once Write is stored.
	Answer Answer
}

// Decide is the whole protocol of claiming: what request r means to a store
// that holds item, or holds none if item is nil. All stores share it, so that
// they differ in how they store and in nothing else.
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
		return r.begin(Item{Epoch: r.opens(item), History: item.History, Steps: item.Steps})
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
	case r.opens(item) > item.Epoch:
		return requestNewEpoch
	case r.conflicts(item):
		return requestConflict
	default:
		return requestCopy
	}
}

// begin claims the job of an item that keeps what base has.
func (r *Request) begin(base Item) Decision {
	next := base
	next.ID, next.Status, next.Owner, next.MessageID = r.ID, StatusInProgress, r.Owner, r.MessageID
	next.Validation, next.Lease, next.Expiration = r.Validation, r.Lease, r.Expires
	next.Claims++
	return Decision{Write: &next, Answer: acquiredAnswer(&next)}
}

// opens gives the epoch that the request begins over a dead item: for a replay
// the one after its death, for a message sent after the death the next. In
// doubt about the time the job runs. For an ordinary copy it gives 0, and so it
// does for the message whose death it is.
func (r *Request) opens(item *Item) int {
	if item.Status != StatusDead || r.MessageID == item.MessageID {
		return 0
	}
	if r.SentAt.IsZero() || !r.SentAt.Before(item.DeadAt.Add(-clockMargin)) {
		return max(r.Epoch, item.Epoch+1)
	}
	return r.Epoch
}

// conflicts tells whether the key was used for another payload. A message
// never conflicts with itself, and hashes of two schemes say nothing.
func (r *Request) conflicts(item *Item) bool {
	if item.Validation == r.Validation || item.MessageID == r.MessageID {
		return false
	}
	stored, _, _ := strings.Cut(item.Validation, ":")
	asked, _, _ := strings.Cut(r.Validation, ":")
	return stored == asked
}

// lostAnswer repeats what the item's owner was told.
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

// acquiredAnswer tells the item's new owner what was there before its claim.
func acquiredAnswer(item *Item) Answer {
	return Answer{
		Kind: AnswerAcquired, Status: item.Status, Claim: item.claim(),
		Job: item.job(), CrashStack: item.CrashStack, Steps: item.Steps,
		Claims: item.Claims - 1, Settled: item.Settled,
	}
}

// sendAnswer tells the item's new owner what to send.
func sendAnswer(item *Item) Answer {
	return Answer{
		Kind: AnswerSend, Status: item.Status, Claim: item.claim(), Job: item.job(),
		Claims: item.Claims, Settled: item.Settled, Failure: item.Verdict,
	}
}

// job is the state as the user's function sees it.
func (i *Item) job() handler.Job {
	return handler.Job{
		Epoch: i.Epoch, Attempts: i.Attempts, Unclassified: i.Unclassified,
		Crashes: i.Crashes, History: i.History,
	}
}
