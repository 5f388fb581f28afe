package handler

import (
	"context"
	"runtime"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

const attemptTextBytes = 256

// recordAttempt adds the run to the job's history, with the reason of its own error. If
// the job is dead, it also sets the failure record.
func recordAttempt(ctx context.Context, m *Message, r *run, res *Result, reason string) {
	now := time.Now()
	a := Attempt{
		Number:       m.Attempt(),
		Start:        NewTimestamp(now),
		End:          NewTimestamp(now),
		Class:        res.Decision.Class.String(),
		Reason:       reason,
		Rule:         res.Decision.Rule,
		Message:      truncate(text(res.Err), attemptTextBytes),
		DelaySeconds: res.Delay.Seconds(),
		RequestID:    requestID(ctx),
	}
	if r != nil && r.started() {
		a.Start = NewTimestamp(r.startTime())
	}
	res.Job.History = m.Job.History.Append(a)
	if res.Outcome == OutcomeDead {
		res.Failure = evidence(res, now)
	}
}

// evidence returns the failure record of a dead job.
func evidence(r *Result, now time.Time) *Failure {
	f := &Failure{
		Class:    r.Decision.Class.String(),
		Reason:   r.Decision.Reason,
		Rule:     r.Decision.Rule,
		Types:    fault.Types(r.Err),
		Codes:    fault.CodesOf(r.Err),
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

// stack returns the stack of the panic or of the tag. For an error with neither it
// returns the function that received the error.
func stack(err error) string {
	if p, ok := asPanic(err); ok {
		return p.Stack
	}
	if s := fault.Stack(err); s != "" {
		return s
	}
	return catchSite() + "\n(the error carries no stack of its own; fault.Permanent and fault.Retryable give it one)"
}

// catchSite returns the name of the first calling function that is not in internalFrames.
func catchSite() string {
	var counters [16]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters[:])])
	for {
		frame, more := frames.Next()
		name := frame.Function[strings.LastIndexByte(frame.Function, '/')+1:]
		if !internalFrames[name] || !more {
			return frame.Function
		}
	}
}

var internalFrames = map[string]bool{
	"handler.stack": true, "handler.evidence": true, "handler.recordAttempt": true,
	"handler.(*resolver).resolve": true, "handler.(*resolver).complete": true,
}
