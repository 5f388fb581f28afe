package idem

import "time"

// The claim protocol consists of two tables. docs/ledger.md has the same tables with
// conditions and writes, and a test compares them.

// itemState is the state of a job at the time of a request.
type itemState string

const (
	// stateUnknown: there is no item, or it has expired.
	stateUnknown itemState = "unknown"
	// stateHeld: in progress, and the lease has not expired: the job runs, or waits for
	// its next attempt.
	stateHeld itemState = "held"
	// stateLapsed: in progress, and the lease has expired.
	stateLapsed itemState = "lapsed"
	// stateCompleted: done.
	stateCompleted itemState = "completed"
	// stateSending: dead, and its dead letter is being sent under a lease.
	stateSending itemState = "sending"
	// stateUnsent: dead, the lease has expired, and it is unknown whether the dead letter
	// was sent.
	stateUnsent itemState = "unsent"
	// stateDeadConfirmed: dead, and its dead letter is confirmed.
	stateDeadConfirmed itemState = "confirmed"
)

// requestKind classifies a claim request against the stored item. The first kind that
// matches applies.
type requestKind string

const (
	// requestRepeated: the same request was made before, and its answer was lost.
	requestRepeated requestKind = "repeated"
	// requestNewEpoch: a replay of the job's death, or a message sent after it.
	requestNewEpoch requestKind = "new epoch"
	// requestConflict: another payload under the key.
	requestConflict requestKind = "conflict"
	// requestCopy: any other delivery of the job.
	requestCopy requestKind = "copy"
)

// action is the reaction to a claim request.
type action string

const (
	actBegin      action = "begin"
	actTakeOver   action = "take over"
	actReopen     action = "reopen"
	actTakeLetter action = "take letter"
	actRepeat     action = "repeat"
	actDuplicate  action = "duplicate"
	actBusy       action = "busy"
	actConflict   action = "conflict"
)

// actions is the table for claim requests. A missing cell cannot occur: only a dead job
// has a next epoch, and an unknown job has no payload to conflict with.
var actions = map[itemState]map[requestKind]action{
	stateUnknown: {requestRepeated: actRepeat, requestCopy: actBegin},
	stateHeld: {
		requestRepeated: actRepeat, requestConflict: actConflict, requestCopy: actBusy,
	},
	stateLapsed: {
		requestRepeated: actRepeat, requestConflict: actConflict, requestCopy: actTakeOver,
	},
	stateCompleted: {
		requestRepeated: actRepeat, requestConflict: actConflict, requestCopy: actDuplicate,
	},
	stateSending: {
		requestRepeated: actRepeat, requestNewEpoch: actReopen,
		requestConflict: actConflict, requestCopy: actBusy,
	},
	stateUnsent: {
		requestRepeated: actRepeat, requestNewEpoch: actReopen,
		requestConflict: actConflict, requestCopy: actTakeLetter,
	},
	stateDeadConfirmed: {
		requestRepeated: actRepeat, requestNewEpoch: actReopen,
		requestConflict: actConflict, requestCopy: actDuplicate,
	},
}

// state returns the state of the job at a time. A nil item means that there is none.
func (i *Item) state(now time.Time) itemState {
	switch {
	case i == nil || i.expired(now):
		return stateUnknown
	case i.Status == StatusCompleted:
		return stateCompleted
	case i.Status == StatusDead && i.DeadLetterID != "":
		return stateDeadConfirmed
	case i.Status == StatusDead && i.lapsed(now):
		return stateUnsent
	case i.Status == StatusDead:
		return stateSending
	case i.lapsed(now):
		return stateLapsed
	default:
		return stateHeld
	}
}

// ownership is the relation of the stored item to a claim that is being settled.
type ownership string

const (
	// ownsRun: in progress under the claim, which is not settled.
	ownsRun ownership = "mine"
	// ownsSettled: in progress under the claim, which is settled.
	ownsSettled ownership = "mine, settled"
	// ownsDead: dead under the claim.
	ownsDead ownership = "mine, dead"
	// ownsCompleted: completed, under any claim.
	ownsCompleted ownership = "completed"
	// ownsNothing: under another claim, or gone.
	ownsNothing ownership = "another's"
)

// reaction is the reaction to a settlement.
type reaction string

const (
	// reactWrite: it is written.
	reactWrite reaction = "write"
	// reactAlready: nothing is written, and the call succeeds, since the item already has
	// that content.
	reactAlready reaction = "already"
	// reactLate: nothing is written, and the call fails with a [*LateError].
	reactLate reaction = "late"
)

// reactions is the table for settlements. A missing cell is late.
var reactions = map[SettlementKind]map[ownership]reaction{
	SettleComplete: {ownsRun: reactWrite, ownsSettled: reactWrite, ownsCompleted: reactAlready},
	SettleRelease:  {ownsRun: reactWrite, ownsSettled: reactWrite},
	SettleAbort:    {ownsRun: reactWrite, ownsSettled: reactWrite},
	SettleVerdict:  {ownsRun: reactWrite, ownsSettled: reactWrite, ownsDead: reactAlready},
	SettleConfirm:  {ownsDead: reactWrite},
	SettleCrash:    {ownsRun: reactWrite, ownsSettled: reactWrite},
	SettleRenew:    {ownsRun: reactWrite},
	SettleStep:     {ownsRun: reactWrite},
	SettleAlone:    {ownsRun: reactWrite},
}

// owned classifies the item against claim c. A nil item means that there is none.
func (i *Item) owned(c Claim) ownership {
	switch {
	case i == nil:
		return ownsNothing
	case i.Status == StatusCompleted:
		return ownsCompleted
	case i.Owner != c.Owner:
		return ownsNothing
	case i.Status == StatusDead:
		return ownsDead
	case i.Settled == c.Settled:
		return ownsRun
	default:
		return ownsSettled
	}
}

// react returns the reaction to a settlement of that kind.
func (i *Item) react(kind SettlementKind, c Claim) reaction {
	if r, ok := reactions[kind][i.owned(c)]; ok {
		return r
	}
	return reactLate
}
