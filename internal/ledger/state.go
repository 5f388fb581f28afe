package ledger

import "time"

// State says where a job stands at a time, which its status alone does not.
type State string

// The states of a job.
const (
	// StateHeld is a job that a delivery has claimed, until its lease lapses.
	StateHeld State = "held"
	// StateWaiting is a job that was given back until its next attempt.
	StateWaiting State = "waiting"
	// StateDue is a job that was given back and whose next attempt may start.
	StateDue State = "due"
	// StateLeft is a job whose lease lapsed without a word from its owner: what
	// became of the run is not known.
	StateLeft State = "left"
	// StateDone is a job that is completed.
	StateDone State = "done"
	// StateSending is a dead job whose dead letter is on its way.
	StateSending State = "sending"
	// StateUnsent is a dead job whose dead letter nobody has confirmed.
	StateUnsent State = "unsent"
	// StateDead is a dead job whose dead letter is confirmed.
	StateDead State = "dead"
	// StateExpired is a job that counts as forgotten, whatever its item says.
	StateExpired State = "expired"
	// StateUnknown is an item with a status of another writer.
	StateUnknown State = "unknown"
)

// State is the job's at that time.
func (e *Entry) State(now time.Time) State {
	// After a crash a job that was given back has more claims than settled
	// ones, so it counts as held.
	givenBack := e.Claims > 0 && e.Settled >= e.Claims
	// Powertools leaves the lease out where it does not know its deadline, and
	// such a claim holds until it expires.
	held := now.Before(e.Lease) || e.Lease.IsZero()
	switch {
	case !e.Expires.IsZero() && !now.Before(e.Expires):
		return StateExpired
	case e.Status == "COMPLETED":
		return StateDone
	case e.Status == "DEAD" && e.DeadLetterID != "":
		return StateDead
	case e.Status == "DEAD" && held:
		return StateSending
	case e.Status == "DEAD":
		return StateUnsent
	case e.Status != "INPROGRESS":
		return StateUnknown
	case givenBack && held:
		return StateWaiting
	case givenBack:
		return StateDue
	case held:
		return StateHeld
	default:
		return StateLeft
	}
}

// Live tells that somebody may be at work on the job.
func (s State) Live() bool { return s == StateHeld || s == StateSending }
