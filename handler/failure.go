package handler

import "time"

// Failure is the evidence of a dead job: what the ledger keeps as the verdict
// and the dead-letter record repeats.
type Failure struct {
	// Class, Reason and Rule are the decision that ended the job.
	Class  string `json:"class"`
	Reason string `json:"reason"`
	Rule   string `json:"rule"`
	// Types are the error's types, outermost first.
	Types []string `json:"types,omitempty"`
	// Message is the error's text.
	Message string `json:"message,omitempty"`
	// Stack is where the error was tagged, where the panic happened, or, for an
	// error without either, where the processor caught it.
	Stack string `json:"stack,omitempty"`
	// Fingerprint is equal for failures of one kind.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Key and Epoch name the job in the ledger; Key is empty when the job died
	// before it had one.
	Key   string `json:"key,omitempty"`
	Epoch int    `json:"epoch"`
	// Verdict tells whether the ledger holds this death.
	Verdict bool `json:"verdict"`
	// Attempts counts the failures that cost budget.
	Attempts int `json:"attempts"`
	// History tells of the failed runs, the last included.
	History History `json:"history"`
	// First and Last are when the job first failed and when it failed for good.
	First time.Time `json:"firstFailure"`
	Last  time.Time `json:"lastFailure"`
}
