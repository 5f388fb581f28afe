package ledger

import "time"

// State is the state of a job at a time. The status alone does not define it.
type State string

// The states of a job.
const (
	// StateHeld: a delivery has claimed the job, and its lease has not expired.
	StateHeld State = "held"
	// StateWaiting: the claim was released, and the next attempt may not start
	// yet.
	StateWaiting State = "waiting"
	// StateDue: the claim was released, and the next attempt may start.
	StateDue State = "due"
	// StateLeft: the lease expired, and its owner did not record a result: it
	// is not known what happened in the run.
	StateLeft State = "left"
	// StateDone: the job is completed.
	StateDone State = "done"
	// StateSending: the job is dead, and its dead letter is being sent.
	StateSending State = "sending"
	// StateUnsent: the job is dead, and its dead letter was not confirmed.
	StateUnsent State = "unsent"
	// StateDead: the job is dead, and its dead letter was confirmed.
	StateDead State = "dead"
	// StateExpired: the item has expired and is ignored, whatever its status.
	StateExpired State = "expired"
	// StateUnknown: the item has the status of another program.
	StateUnknown State = "unknown"
)

// State returns the state of the job at that time.
func (e *Entry) State(now time.Time) State {
	// After a crash a released job has more claims than settled ones, so it
	// counts as held.
	givenBack := e.Claims > 0 && e.Settled >= e.Claims
	// Powertools does not write a lease if it does not know its deadline. Such
	// a claim is held until the item expires.
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

// Live reports whether some process may be working on the job.
func (s State) Live() bool { return s == StateHeld || s == StateSending }
