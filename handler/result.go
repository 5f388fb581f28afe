package handler

import (
	"errors"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// Result is a decided outcome. The stage that decides returns it as the error of a
// [Func]. The middleware around it can find it with [errors.As].
type Result struct {
	Outcome Outcome
	// Decision is the classification of the error. For outcomes without an error only its
	// Reason may be set.
	Decision fault.Decision
	// Delay is how long the message stays hidden before it comes back. 0 for outcomes
	// that acknowledge it, and for those that leave the queue's own visibility timeout in
	// force.
	Delay time.Duration
	// Until is the earliest time at which the message may come back, such as the end of
	// another delivery's lease. Delay is computed from it, with up to 20 % jitter. Zero
	// means no such time.
	Until time.Time
	// Err is the error that caused the outcome; nil if there was none.
	Err error
	// Failure is the failure record of a dead job; nil for all other outcomes.
	Failure *Failure
	// Job is the job state to store: that of the message, with this run counted.
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

// Unwrap returns Err.
func (r *Result) Unwrap() error { return r.Err }

// AsResult returns the Result in err, or nil if there is none. Callers may share the
// Result, so do not change it.
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
