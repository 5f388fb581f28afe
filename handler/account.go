package handler

import (
	"context"
	"time"
)

const attemptTextBytes = 256

// account writes the run into the job's history, with the reason of its own
// error, and, for a dead job, the evidence.
func account(ctx context.Context, m *Message, r *Result, reason string) {
	now := time.Now()
	a := Attempt{
		Number:       m.run(),
		Start:        NewTimestamp(m.started),
		End:          NewTimestamp(now),
		Class:        r.Decision.Class.String(),
		Reason:       reason,
		Rule:         r.Decision.Rule,
		Message:      cut(text(r.Err), attemptTextBytes),
		DelaySeconds: r.Delay.Seconds(),
		RequestID:    requestID(ctx),
	}
	if a.Start.IsZero() {
		a.Start = a.End
	}
	r.Job.History = m.Job.History.Append(a)
	if r.Outcome == OutcomeDead {
		r.Failure = evidence(r, now)
	}
}
