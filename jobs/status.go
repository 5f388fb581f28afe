package jobs

import (
	"time"

	"github.com/sqsafe/sqsafe/internal/ledger"
)

// State is the state of a job: one of the constants.
type State string

const (
	// Unknown says that the ledger does not have the job: it was not delivered yet, it was
	// never sent, or its time in the ledger is over.
	Unknown State = "unknown"
	// Running says that a delivery has claimed the job.
	Running State = "running"
	// Waiting says that the job waits for its next attempt: after a failure or a deferral,
	// or because the process that ran it is gone.
	Waiting State = "waiting"
	// Done says that the job is completed.
	Done State = "done"
	// Dead says that the job has failed for good. It can be started again: by a replay of
	// its dead letter, or by its producer.
	Dead State = "dead"
)

// Ended reports whether the job has come to an end.
func (s State) Ended() bool { return s == Done || s == Dead }

// Status is what the ledger knows of a job. Its JSON is stable; what is not known is left
// out.
type Status struct {
	Key   string `json:"key"`
	State State  `json:"state"`
	// NextAttempt is the earliest time of the next attempt of a Waiting job. SQS delivers
	// the message at about that time, later if the function is busy.
	NextAttempt time.Time `json:"nextAttempt,omitzero"`
	// Until is when the claim of a Running job ends, if its process does not renew it.
	Until time.Time `json:"until,omitzero"`
	// Interrupted says that the last run of a Waiting job ended without a result: its
	// process has died, or could not write the result. The run may have taken effect.
	Interrupted bool `json:"interrupted,omitempty"`
	// Epoch is how often the job was started again after it was dead, from 0.
	Epoch int `json:"epoch"`
	// Runs is how many runs failed, in all epochs. Attempts is the part of the budget that
	// the present epoch has used.
	Runs     int `json:"runs"`
	Attempts int `json:"attempts"`
	// Class, Reason and Error are those of the death of a Dead job, or of the last failed
	// run of another.
	Class  string `json:"class,omitempty"`
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
	// DiedAt is when a Dead job died. DeadLetterID is its message id in the dead-letter
	// queue; it is empty until that queue has confirmed the letter.
	DiedAt       time.Time `json:"diedAt,omitzero"`
	DeadLetterID string    `json:"deadLetterId,omitempty"`
	// MessageID is the message of the last claim.
	MessageID string `json:"messageId,omitempty"`
}

// statusOf returns the status of the job at that time; e is nil if the ledger does not
// have it.
func statusOf(key string, e *ledger.Entry, now time.Time) Status {
	s := Status{Key: key, State: Unknown}
	if e == nil {
		return s
	}
	switch e.State(now) {
	case ledger.StateHeld:
		s.State, s.Until = Running, e.Lease
	case ledger.StateWaiting, ledger.StateDue:
		s.State, s.NextAttempt = Waiting, e.Lease
	case ledger.StateLeft:
		s.State, s.NextAttempt, s.Interrupted = Waiting, e.Lease, true
	case ledger.StateDone:
		s.State = Done
	case ledger.StateSending, ledger.StateUnsent, ledger.StateDead:
		s.State, s.DiedAt, s.DeadLetterID = Dead, e.DeadAt, e.DeadLetterID
	case ledger.StateExpired, ledger.StateUnknown:
		return s
	}
	s.Epoch, s.Runs, s.Attempts, s.MessageID = e.Epoch, e.Runs(), e.Attempts, e.MessageID
	if n := len(e.History.Attempts); n > 0 {
		last := e.History.Attempts[n-1]
		s.Class, s.Reason, s.Error = last.Class, last.Reason, last.Message
	}
	if s.State == Done {
		s.Class, s.Reason, s.Error = "", "", ""
	}
	if e.Verdict != nil && s.State == Dead {
		s.Class, s.Reason, s.Error = e.Verdict.Class, e.Verdict.Reason, e.Verdict.Message
	}
	return s
}
