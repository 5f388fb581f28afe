package handler

import (
	"time"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
)

// unrunBackoff spreads over its full width: these messages come back together.
var unrunBackoff = backoff.Exponential{Cap: time.Minute, Jitter: 1}

// Unrun gives the Result for a message that was not started, or cut off for no
// fault of its own: it comes back soon, later with each receive, and its budget
// stays as it is. Err is what it was cut off with; nil if it was not started.
func (m *Message) Unrun(reason string, err error) *Result {
	rs := m.decider()
	return &Result{
		Outcome:  OutcomeUnrun,
		Decision: fault.Decision{Reason: reason},
		Err:      err,
		Job:      m.Job,
		Delay:    rs.round(unrunBackoff.Delay(m.ReceiveCount(), rs.options.Random)),
	}
}
