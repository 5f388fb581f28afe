package runqueue

// Kind is the kind of an Action.
type Kind uint8

const (
	// Decode asks the owner to decode the payload and to find the job's key. The answer
	// is Identified, Refused (unless Force is set), or, if the delivery ends there,
	// Settling, Sending or Ended.
	Decode Kind = iota + 1
	// Claim asks the owner to claim the job in the ledger. The answer is Claimed, or, if
	// the delivery does not run, Settling, Sending or Ended.
	Claim
	// Start asks the owner to run the job. Without a ledger this includes Decode. The
	// answer is Settling with ran set, or Refused.
	Start
	// StartAlone asks the owner to run the job while no other delivery of the process is
	// active. The answer is Settling with ran set; LoneOver may come before.
	StartAlone
	// Ask asks the owner to request the process for a suspect. The answer is Granted or
	// Denied. Without Hold, an answer that is known at once must come before the next
	// call of Next, since the queue may withdraw the request then.
	Ask
	// Withdraw cancels an Ask without an answer. A late answer does no harm: Granted
	// leads to Free.
	Withdraw
	// Free releases the process after Granted.
	Free
	// AskProbe asks the breaker whether the delivery may run although it is open. The
	// answer is Probed, before the next call of Next.
	AskProbe
	// Release asks the owner to release the claim. The answer is Ended.
	Release
	// Bury asks the owner to dead-letter a delivery that can no longer run at its last
	// receive. The answer is Sending or Ended.
	Bury
	// Defer asks the owner to leave the delivery to a later receive; it has no claim.
	// There is no answer.
	Defer
)

var kindNames = [...]string{
	"invalid", "decode", "claim", "start", "start alone", "ask", "withdraw", "free", "ask probe",
	"release", "bury", "defer",
}

// String names the kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[0]
}

// Reason is why a delivery does not run.
type Reason uint8

const (
	// None is no reason: it may run.
	None Reason = iota
	// AfterCrash says that the process is about to end.
	AfterCrash
	// GroupHead says that an earlier delivery of the FIFO group failed.
	GroupHead
	// NoTime says that the invocation has not enough time left.
	NoTime
	// Draining says that the process is stopping.
	Draining
	// Breaker says that the breaker is open.
	Breaker
	// NoSlot says that no slot became free for a long time.
	NoSlot
	// NotAlone says that a suspect could not run alone because the process was not idle.
	NotAlone
)

// Action is a request of the queue to its owner.
type Action struct {
	Kind  Kind
	Index int
	// Reason is set for Release, Bury and Defer.
	Reason Reason
	// Force is set for Decode if the owner must begin although the process is taken, and
	// so cannot answer Refused: there is no time left to wait.
	Force bool
	// Hold is set for Ask if nothing else may start while the suspect waits.
	Hold bool
	// Quiet is set for Start if the delivery has an unsettled claim. It may start only
	// while nothing in the process is settling.
	Quiet bool
}
