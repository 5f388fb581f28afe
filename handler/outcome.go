package handler

// Outcome is what became of one delivery of a message. The set is closed.
type Outcome uint8

const (
	// OutcomeNone is the zero value: nothing was decided, so the message is
	// reported as failed.
	OutcomeNone Outcome = iota
	// OutcomeDone says that the handler succeeded and that this is recorded.
	OutcomeDone
	// OutcomeDuplicate says that the job had its outcome at an earlier delivery.
	OutcomeDuplicate
	// OutcomeRetry says that the job comes back after its delay.
	OutcomeRetry
	// OutcomeBusy says that another delivery of the job is being handled.
	OutcomeBusy
	// OutcomeUnrecorded says that the handler succeeded but this could not be
	// recorded; the claim is left to lapse.
	OutcomeUnrecorded
	// OutcomeDead says that the job goes to the dead-letter queue.
	OutcomeDead
	// OutcomeDeferred says that the job was not started, or cut off early, and comes
	// back with its budget untouched.
	OutcomeDeferred
	// OutcomeCrash says that the process cannot be trusted any more.
	OutcomeCrash
	// OutcomeDropped says that the job is dead and that the options want no dead
	// letter for its reason.
	OutcomeDropped
)

var outcomeNames = [...]string{
	"none", "done", "duplicate", "retry", "busy", "unrecorded", "dead", "deferred", "crash", "dropped",
}

// String gives the name that logs carry.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "invalid"
}
