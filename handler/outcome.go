package handler

// Outcome is the outcome of one delivery of a message. The set is closed.
type Outcome uint8

const (
	// OutcomeNone is the zero value: there is no decision, so the message is reported as
	// failed.
	OutcomeNone Outcome = iota
	// OutcomeDone says that the handler succeeded and that this is recorded.
	OutcomeDone
	// OutcomeDuplicate says that an earlier delivery has completed the job, or that the
	// job is dead already.
	OutcomeDuplicate
	// OutcomeRetry says that the job comes back after its delay.
	OutcomeRetry
	// OutcomeBusy says that another delivery of the job is being handled.
	OutcomeBusy
	// OutcomeUnrecorded says that the handler succeeded but this could not be recorded.
	// The claim stays until its lease expires.
	OutcomeUnrecorded
	// OutcomeDead says that the job goes to the dead-letter queue.
	OutcomeDead
	// OutcomeDeferred says that the job was not started, or was cancelled early. It comes
	// back, and its budget is not changed.
	OutcomeDeferred
	// OutcomeCrash says that the process may be damaged and ends: a panic, or a handler
	// that ignored its cancellation.
	OutcomeCrash
	// OutcomeDropped says that the job is dead and Options.Drop names its reason, so it
	// has no dead letter.
	OutcomeDropped
)

var outcomeNames = [...]string{
	"none", "done", "duplicate", "retry", "busy", "unrecorded", "dead", "deferred", "crash", "dropped",
}

// String returns the name as in logs.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "invalid"
}

// Reasons set by the processor itself. Reasons of errors are in package fault.
const (
	// ReasonExhausted says that the budget of retries is spent.
	ReasonExhausted = "exhausted"
	// ReasonMaxReceives says that the job failed, or could not run, at its last receive.
	// SQS would move it at the next one.
	ReasonMaxReceives = "max_receives"
	// ReasonPanic is the reason of a panic in user code.
	ReasonPanic = "panic"
	// ReasonAbandoned says that the handler ignored its cancellation.
	ReasonAbandoned = "abandoned"
	// ReasonNoOutcome says that middleware returned a [Result] without an outcome.
	ReasonNoOutcome = "no_outcome"
	// ReasonNoTime says that the invocation had no time left for the message.
	ReasonNoTime = "no_time"
	// ReasonCancelled says that the process is stopping.
	ReasonCancelled = "cancelled"
	// ReasonGroupHead says that an earlier message of the FIFO group failed.
	ReasonGroupHead = "group_head"
	// ReasonAfterCrash says that another job has crashed the process.
	ReasonAfterCrash = "after_crash"
	// ReasonBreaker says that the breaker is open: several jobs in a row failed because a
	// dependency is down.
	ReasonBreaker = "breaker"
	// ReasonNoSlot says that in an invocation without a deadline no slot became free
	// for the message.
	ReasonNoSlot = "no_slot"
	// ReasonNotAlone says that a suspect, a job that may have crashed the process before,
	// could not run alone because the process was not idle.
	ReasonNotAlone = "not_alone"
	// ReasonMiddleware says that middleware returned nil without calling the function, or
	// did not return after the function had.
	ReasonMiddleware = "middleware"
)
