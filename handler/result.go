package handler

import (
	"errors"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// Result is a decided outcome. It travels as the error of a [Func] from the stage
// that decided to the middleware around it, and is found with [errors.As].
type Result struct {
	Outcome Outcome
	// Decision says what the error means. For outcomes without an error only its
	// Reason may be set.
	Decision fault.Decision
	// Delay is how long the message stays hidden before it comes back. 0 for outcomes
	// that acknowledge it, and for those that leave the queue's own visibility
	// timeout in force.
	Delay time.Duration
	// Until is when the message may come back at the earliest, such as the end of
	// another delivery's lease: the Delay is made of it, up to a fifth longer. Zero:
	// there is no such time.
	Until time.Time
	// Err is the error behind the outcome, nil where there is none.
	Err error
	// Failure is the evidence of a dead job; nil for all other outcomes.
	Failure *Failure
	// Job is the state to store: the message's, with this run counted.
	Job Job
}

// Error describes the outcome and its cause.
func (r *Result) Error() string {
	s := r.Outcome.String()
	if r.Decision.Reason != "" {
		s += " (" + r.Decision.Reason + ")"
	}
	if r.Err != nil {
		s += ": " + text(r.Err)
	}
	return s
}

// Unwrap returns the error behind the outcome.
func (r *Result) Unwrap() error { return r.Err }

// AsResult finds the Result in err; nil if there is none. All who return it may
// share it, so it is not to be changed.
func AsResult(err error) *Result {
	if err == nil || isTypedNil(err) {
		return nil
	}
	if r, ok := errors.AsType[*Result](err); ok {
		return r
	}
	return nil
}

// clone returns a Result that can be changed without changing r.
func (r *Result) clone() *Result {
	own := *r
	if r.Failure != nil {
		failure := *r.Failure
		own.Failure = &failure
	}
	return &own
}
