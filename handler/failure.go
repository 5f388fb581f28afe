package handler

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

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

// evidence describes the death that r decides.
func evidence(r *Result, now time.Time) *Failure {
	f := &Failure{
		Class:    r.Decision.Class.String(),
		Reason:   r.Decision.Reason,
		Rule:     r.Decision.Rule,
		Types:    fault.Types(r.Err),
		Message:  truncate(text(r.Err), failureTextBytes),
		Stack:    stack(r.Err),
		Key:      r.Job.Key,
		Epoch:    r.Job.Epoch,
		Attempts: r.Job.Attempts,
		History:  r.Job.History,
		First:    r.Job.History.Attempts[0].End,
		Last:     NewTimestamp(now),
	}
	f.Fingerprint = fingerprint(f)
	return f
}

// stack is the best that is known of where the error came from: the panic, or
// the tag. An error without either has been nowhere that can be told.
func stack(err error) string {
	if p, ok := asPanic(err); ok {
		return p.Stack
	}
	if s := fault.Stack(err); s != "" {
		return s
	}
	return caught() + "\n(the error carries no stack of its own; fault.Permanent and fault.Retryable give it one)"
}

// caught names the stage outside of this package's bookkeeping that received
// the error.
func caught() string {
	var counters [16]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters[:])])
	for {
		frame, more := frames.Next()
		name := frame.Function[strings.LastIndexByte(frame.Function, '/')+1:]
		if !bookkeeping[name] || !more {
			return frame.Function
		}
	}
}

var bookkeeping = map[string]bool{
	"handler.stack": true, "handler.evidence": true, "handler.recordAttempt": true,
	"handler.(*resolver).resolve": true, "handler.(*resolver).complete": true,
}

// fingerprint leaves out texts and times, so that failures of one kind count as one.
func fingerprint(f *Failure) string {
	top, _, _ := strings.Cut(f.Stack, "\n")
	parts := append([]string{f.Class, f.Reason, f.Rule, top}, f.Types...)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:6])
}
