package handler

import (
	"context"
	"fmt"

	"github.com/sqsafe/sqsafe/fault"
)

// NotRunError is the error of a job that is dead without having run again: at
// its last receive there was no time left, or the process was told to stop.
type NotRunError struct {
	// Reason is why it did not run, Err what cut it off; nil if it did not start.
	Reason string
	Err    error
}

// Error tells why, and that this was the last receive.
func (e *NotRunError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("cut off at its last receive (%s): %v", e.Reason, e.Err)
	}
	return fmt.Sprintf("not run at its last receive (%s)", e.Reason)
}

// Unwrap gives Err.
func (e *NotRunError) Unwrap() error { return e.Err }

// NotRun gives the Result for a claimed message that is not to run, or was cut
// off, for no fault of its own: as [Message.Unrun], but dead with its record at
// the last receive, since SQS would move it without one. After a crash nothing
// new is decided.
func (m *Message) NotRun(ctx context.Context, reason string, err error) *Result {
	if reason == ReasonAfterCrash || !m.decider().lastReceive(m) {
		return m.Unrun(reason, err)
	}
	r := &Result{
		Outcome:  OutcomeDead,
		Decision: fault.Decision{Class: fault.ClassRetryable, Reason: ReasonMaxReceives},
		Err:      &NotRunError{Reason: reason, Err: err},
		Job:      m.Job,
	}
	account(ctx, m, r, reason)
	return m.decider().drop(r)
}

// LastAttempt tells whether the job is dead if this run fails with an error that
// costs budget: the budget of Options.Backoff has one run left, or the queue no
// further receive. Profiles by reason may end a job earlier or later.
func (m *Message) LastAttempt() bool {
	rs := m.decider()
	return rs.lastReceive(m) || rs.spentBy(m)+1 >= rs.options.Backoff.Attempts()
}

// lastReceive tells whether SQS would move the message at its next receive.
func (rs *resolver) lastReceive(m *Message) bool {
	return rs.options.MaxReceives > 0 && m.ReceiveCount() >= rs.options.MaxReceives
}

// urgent tells whether half of the message's receives are used up.
func (rs *resolver) urgent(m *Message) bool {
	return rs.options.MaxReceives > 0 && 2*m.ReceiveCount() >= rs.options.MaxReceives
}
