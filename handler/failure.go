package handler

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Attempt is one failed run of a job. Its JSON is part of what the ledger and
// dead letters keep: members may be added, and what is there stays as it is.
type Attempt struct {
	// Number counts the job's failed runs from 1, those before a death included.
	Number int `json:"n"`
	// Start and End are when the run began and failed.
	Start Timestamp `json:"start,omitzero"`
	End   Timestamp `json:"end,omitzero"`
	// Class, Reason and Rule are the decision on its error.
	Class  string `json:"class"`
	Reason string `json:"reason"`
	Rule   string `json:"rule"`
	// Message is the error's text, cut to 256 bytes.
	Message string `json:"message,omitempty"`
	// DelaySeconds is the wait chosen after it, in seconds; 0 for the last run.
	DelaySeconds float64 `json:"delaySeconds,omitempty"`
	// RequestID is the invocation's.
	RequestID string `json:"requestId,omitempty"`
}

// historyKept is how many attempts History keeps at its start, and at its end.
const historyKept = 9

// History is the failed runs of a job in order: the first nine and the last
// nine of them.
type History struct {
	Attempts []Attempt `json:"attempts,omitempty"`
	// Dropped is how many were left out between the first and the last nine.
	Dropped int `json:"dropped,omitempty"`
}

// Len is the number of failed runs, those left out included.
func (h History) Len() int { return len(h.Attempts) + h.Dropped }

// Append gives the history with one more run. The receiver stays as it is.
func (h History) Append(a Attempt) History {
	attempts := make([]Attempt, 0, len(h.Attempts)+1)
	attempts = append(append(attempts, h.Attempts...), a)
	if len(attempts) > 2*historyKept {
		attempts = append(attempts[:historyKept], attempts[historyKept+1:]...)
		h.Dropped++
	}
	return History{Attempts: attempts, Dropped: h.Dropped}
}

// Failure is the evidence of a dead job: what the ledger keeps as the verdict
// and the dead-letter record repeats. Its JSON is that of the ledger: members may
// be added, and what is there stays as it is, since two versions share a table
// while one is deployed.
type Failure struct {
	// Class, Reason and Rule are the decision that ended the job.
	Class  string `json:"class"`
	Reason string `json:"reason"`
	Rule   string `json:"rule"`
	// Message is the error's text.
	Message string `json:"message,omitempty"`
	// Types are the error's types, outermost first.
	Types []string `json:"types,omitempty"`
	// Fingerprint is equal for failures of one kind.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Key and Epoch name the job in the ledger; Key is empty when the job died
	// before it had one.
	Key   string `json:"key,omitempty"`
	Epoch int    `json:"epoch"`
	// Verdict tells whether the ledger holds this death.
	Verdict bool `json:"verdict"`
	// Attempts is the budget that was used: it counts the failures that cost some.
	// [Failure.Runs] counts the runs, which is another number: a permanent failure
	// costs nothing, and the runs of earlier epochs are in the history too.
	Attempts int `json:"attempts"`
	// First is when the job first failed, be it in an earlier epoch. Last is when it
	// failed for good: the time of the verdict, which tells two deaths of one epoch
	// apart.
	First Timestamp `json:"firstFailure,omitzero"`
	Last  Timestamp `json:"lastFailure,omitzero"`
	// History tells of the failed runs, the last included.
	History History `json:"history"`
	// Stack is where the error was tagged, where the panic happened, or, for an
	// error without either, where the processor caught it.
	Stack string `json:"stack,omitempty"`
}

// Runs counts the runs that failed, those that the history leaves out included.
func (f *Failure) Runs() int { return f.History.Len() }

const failureTextBytes = 8 << 10

// fingerprint leaves out texts and times, so that failures of one kind count as one.
func fingerprint(f *Failure) string {
	top, _, _ := strings.Cut(f.Stack, "\n")
	parts := append([]string{f.Class, f.Reason, f.Rule, top}, f.Types...)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:6])
}
