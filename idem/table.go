package idem

import "time"

// The protocol is two tables. docs/ledger.md has the same with conditions and
// writes spelled out, and a test holds the two together.

// standing is where a job stands for a delivery that asks for it.
type standing string

const (
	// standsUnknown has no item, or one that has expired.
	standsUnknown standing = "unknown"
	// standsHeld is in progress: its run, or the wait for its next attempt, has
	// not come to the end of its lease.
	standsHeld standing = "held"
	// standsLapsed is in progress, and its lease is over.
	standsLapsed standing = "lapsed"
	// standsCompleted is done.
	standsCompleted standing = "completed"
	// standsSending is dead, and its letter is being sent under a lease.
	standsSending standing = "sending"
	// standsUnsent is dead, and nobody knows whether its letter was sent.
	standsUnsent standing = "unsent"
	// standsBuried is dead, and its letter is confirmed.
	standsBuried standing = "buried"
)

// arrival is what a delivery is to a job. The first that fits counts.
type arrival string

const (
	// arrivesAgain is a request that was made before. Its answer was lost.
	arrivesAgain arrival = "again"
	// arrivesAfresh is a replay of the job's death, or a message sent after it.
	arrivesAfresh arrival = "afresh"
	// arrivesStrange has another payload under the key.
	arrivesStrange arrival = "strange"
	// arrivesAsCopy is any other delivery.
	arrivesAsCopy arrival = "copy"
)

// response is what a delivery gets.
type response string

const (
	respondBegin      response = "begin"
	respondTakeOver   response = "take over"
	respondReopen     response = "reopen"
	respondTakeLetter response = "take letter"
	respondRepeat     response = "repeat"
	respondDuplicate  response = "duplicate"
	respondBusy       response = "busy"
	respondConflict   response = "conflict"
)

// responses is the table of claiming. Cells that are not there cannot be: only
// a dead job is begun afresh, and to what is unknown no payload is strange.
var responses = map[standing]map[arrival]response{
	standsUnknown: {arrivesAgain: respondRepeat, arrivesAsCopy: respondBegin},
	standsHeld: {
		arrivesAgain: respondRepeat, arrivesStrange: respondConflict, arrivesAsCopy: respondBusy,
	},
	standsLapsed: {
		arrivesAgain: respondRepeat, arrivesStrange: respondConflict, arrivesAsCopy: respondTakeOver,
	},
	standsCompleted: {
		arrivesAgain: respondRepeat, arrivesStrange: respondConflict, arrivesAsCopy: respondDuplicate,
	},
	standsSending: {
		arrivesAgain: respondRepeat, arrivesAfresh: respondReopen,
		arrivesStrange: respondConflict, arrivesAsCopy: respondBusy,
	},
	standsUnsent: {
		arrivesAgain: respondRepeat, arrivesAfresh: respondReopen,
		arrivesStrange: respondConflict, arrivesAsCopy: respondTakeLetter,
	},
	standsBuried: {
		arrivesAgain: respondRepeat, arrivesAfresh: respondReopen,
		arrivesStrange: respondConflict, arrivesAsCopy: respondDuplicate,
	},
}

// stands tells where the job stands at a time; item is nil if there is none.
func (i *Item) stands(now time.Time) standing {
	switch {
	case i == nil || i.expired(now):
		return standsUnknown
	case i.Status == StatusCompleted:
		return standsCompleted
	case i.Status == StatusDead && i.DeadLetterID != "":
		return standsBuried
	case i.Status == StatusDead && i.lapsed(now):
		return standsUnsent
	case i.Status == StatusDead:
		return standsSending
	case i.lapsed(now):
		return standsLapsed
	default:
		return standsHeld
	}
}

// ownership is what a job is to a claim that is to be settled.
type ownership string

const (
	// ownsRun is in progress under the claim, which was not settled.
	ownsRun ownership = "my run"
	// ownsRest is in progress under the claim, which was settled.
	ownsRest ownership = "my run, settled"
	// ownsDeath is dead under the claim.
	ownsDeath ownership = "my death"
	// ownsCompletion is done, under whatever claim.
	ownsCompletion ownership = "completed"
	// ownsNothing is another claim's, or gone.
	ownsNothing ownership = "another's"
)

// reaction is what becomes of a settlement.
type reaction string

const (
	// reactWrite takes it.
	reactWrite reaction = "write"
	// reactSaid takes it for said: the item says it already.
	reactSaid reaction = "said"
	// reactLate refuses it with a [*LateError].
	reactLate reaction = "late"
)

// reactions is the table of settling. What is not there is late.
var reactions = map[SettlementKind]map[ownership]reaction{
	SettleComplete: {ownsRun: reactWrite, ownsRest: reactWrite, ownsCompletion: reactSaid},
	SettleRelease:  {ownsRun: reactWrite, ownsRest: reactWrite},
	SettleAbort:    {ownsRun: reactWrite, ownsRest: reactWrite},
	SettleVerdict:  {ownsRun: reactWrite, ownsRest: reactWrite, ownsDeath: reactSaid},
	SettleConfirm:  {ownsDeath: reactWrite},
	SettleCrash:    {ownsRun: reactWrite, ownsRest: reactWrite},
	SettleRenew:    {ownsRun: reactWrite},
	SettleStep:     {ownsRun: reactWrite},
	SettleAlone:    {ownsRun: reactWrite},
}

// owned tells what the job is to claim c; item is nil if there is none.
func (i *Item) owned(c Claim) ownership {
	switch {
	case i == nil:
		return ownsNothing
	case i.Status == StatusCompleted:
		return ownsCompletion
	case i.Owner != c.Owner:
		return ownsNothing
	case i.Status == StatusDead:
		return ownsDeath
	case i.Settled == c.Settled:
		return ownsRun
	default:
		return ownsRest
	}
}

// react tells what becomes of a settlement of that kind.
func (i *Item) react(kind SettlementKind, c Claim) reaction {
	if r, ok := reactions[kind][i.owned(c)]; ok {
		return r
	}
	return reactLate
}
