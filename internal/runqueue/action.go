package runqueue

// Kind is what is to be done for a delivery.
type Kind uint8

const (
	// Decode is to decode the payload and to find the job's key. The answer is
	// Identified, Refused (unless Force is set), or, where the delivery ends there,
	// Settling, Sending or Ended.
	Decode Kind = iota + 1
	// Claim is to claim the job in the ledger. The answer is Claimed, or, where the
	// delivery does not run, Settling, Sending or Ended.
	Claim
	// Start is to run the job. Without a ledger this includes Decode. The answer
	// is Settling with ran set, or Refused.
	Start
	// StartAlone is the same while no other delivery of the process is at work. The
	// answer is Settling with ran set; LoneOver may come before.
	StartAlone
	// Ask is to ask for the process on behalf of a suspect. The answer is Granted
	// or Denied. Without Hold, an answer that is known at once is to be given before
	// the next call of Next: the queue may withdraw the question then.
	Ask
	// Withdraw takes an Ask back that was not answered. An answer that comes all the
	// same does no harm: Granted leads to Free.
	Withdraw
	// Free gives the process back after Granted.
	Free
	// AskProbe is to ask the breaker whether the delivery may run although it is
	// open. The answer is Probed, before the next call of Next.
	AskProbe
	// Release is to give the claim back. The answer is Ended.
	Release
	// Bury is to write off a delivery at its last receive that cannot run any more.
	// The answer is Sending or Ended.
	Bury
	// Defer is to leave the delivery to a later receive; it has no claim. There is
	// no answer.
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
	// NoTime says that the invocation has no time left for it.
	NoTime
	// Draining says that the process was told to stop.
	Draining
	// Breaker says that what jobs depend on is down.
	Breaker
	// NoSlot says that no slot became free for a long time.
	NoSlot
	// NotAlone says that the process was not idle for a suspect.
	NotAlone
)

// Action is what the queue asks its owner to do.
type Action struct {
	Kind  Kind
	Index int
	// Reason is set for Release, Bury and Defer.
	Reason Reason
	// Force is set for Decode where it begins although the process is taken, and so
	// cannot be Refused: there is no time left to wait.
	Force bool
	// Hold is set for Ask: others are kept back meanwhile.
	Hold bool
	// Quiet is set for Start: the delivery has an unsettled claim, so that it starts
	// only while nothing of the process is settling.
	Quiet bool
}
