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

// Reasons that the processor itself gives. Those of errors are in package fault.
const (
	// ReasonExhausted says that the budget of retries is spent.
	ReasonExhausted = "exhausted"
	// ReasonMaxReceives says that the job failed, or could not be run, at the last
	// receive before the queue's redrive policy would have moved it.
	ReasonMaxReceives = "max_receives"
	// ReasonPanic is the reason of a panic in user code.
	ReasonPanic = "panic"
	// ReasonAbandoned says that the handler ignored its cancellation.
	ReasonAbandoned = "abandoned"
	// ReasonNoOutcome says that middleware gave a [Result] that decides nothing.
	ReasonNoOutcome = "no_outcome"
	// ReasonNoTime says that the invocation had no time left for the message.
	ReasonNoTime = "no_time"
	// ReasonCancelled says that the process was told to stop.
	ReasonCancelled = "cancelled"
	// ReasonGroupHead says that an earlier message of the group is not settled.
	ReasonGroupHead = "group_head"
	// ReasonAfterCrash says that another job has put the process in doubt.
	ReasonAfterCrash = "after_crash"
	// ReasonBreaker says that several jobs in a row failed since what they depend on is
	// down.
	ReasonBreaker = "breaker"
	// ReasonNoSlot says that in an invocation without a deadline no slot became free
	// for the message.
	ReasonNoSlot = "no_slot"
	// ReasonNotAlone says that a job that may have crashed the process before found it
	// not idle.
	ReasonNotAlone = "not_alone"
	// ReasonMiddleware says that middleware gave the message up by a nil error, or did
	// not return after the function had.
	ReasonMiddleware = "middleware"
	// ReasonHung says that the batch was answered by the watchdog.
	ReasonHung = "hung"
)
