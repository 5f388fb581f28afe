package handler

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/sqsafe/sqsafe/fault"
)

// Attempt is one failed run of a job. Its JSON is part of the format of the ledger and of
// dead letters: members may be added, existing ones do not change.
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

// Append returns the history with one more run. It does not change the receiver.
func (h History) Append(a Attempt) History {
	attempts := make([]Attempt, 0, len(h.Attempts)+1)
	attempts = append(append(attempts, h.Attempts...), a)
	if len(attempts) > 2*historyKept {
		attempts = append(attempts[:historyKept], attempts[historyKept+1:]...)
		h.Dropped++
	}
	return History{Attempts: attempts, Dropped: h.Dropped}
}

// Failure is the failure record of a dead job. The ledger stores it as the verdict, and
// the dead-letter record contains it. Its JSON is the format of the ledger: members may
// be added, existing ones do not change, since two versions use one table during a
// deployment.
type Failure struct {
	// Class, Reason and Rule are the decision that ended the job.
	Class  string `json:"class"`
	Reason string `json:"reason"`
	Rule   string `json:"rule"`
	// Message is the error's text.
	Message string `json:"message,omitempty"`
	// Types are the error's types, outermost first.
	Types []string `json:"types,omitempty"`
	// Codes are the codes of the error: SQLSTATE, HTTP status, AWS code, request id.
	Codes fault.Codes `json:"codes,omitzero"`
	// Fingerprint is equal for failures of the same kind.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Key and Epoch identify the job in the ledger; Key is empty if the job died before
	// it had one.
	Key   string `json:"key,omitempty"`
	Epoch int    `json:"epoch"`
	// Verdict reports whether the ledger holds this verdict.
	Verdict bool `json:"verdict"`
	// Attempts is the number of failures that used up budget. [Failure.Runs] is another
	// number: a permanent failure uses no budget, and the history has the runs of earlier
	// epochs too.
	Attempts int `json:"attempts"`
	// First is when the job first failed, in any epoch. Last is the time of the verdict,
	// which distinguishes two deaths of one epoch.
	First Timestamp `json:"firstFailure,omitzero"`
	Last  Timestamp `json:"lastFailure,omitzero"`
	// History has the failed runs, the last included.
	History History `json:"history"`
	// Trace is the span of the run that ended the job, or of the dead letter if it was no
	// run, as a W3C traceparent; empty without tracing.
	Trace string `json:"trace,omitempty"`
	// Stack is where the error was tagged, where the panic happened, or, for an
	// error without either, where the processor caught it.
	Stack string `json:"stack,omitempty"`
}

// Runs returns the number of failed runs, those that the history leaves out included.
func (f *Failure) Runs() int { return f.History.Len() }

const failureTextBytes = 8 << 10

// fingerprint returns a hash without texts and times, so that failures of the same kind
// have the same one.
func fingerprint(f *Failure) string {
	top, _, _ := strings.Cut(f.Stack, "\n")
	parts := append([]string{f.Class, f.Reason, f.Rule, top}, f.Types...)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:6])
}
