package handler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

const (
	attemptTextBytes = 256
	failureTextBytes = 8 << 10
)

// account writes the run into the job's history, with the reason of its own
// error, and, for a dead job, the evidence.
func account(ctx context.Context, m *Message, r *Result, reason string) {
	now := time.Now()
	a := Attempt{
		Number:       m.Job.History.Len() + 1,
		Start:        m.started,
		End:          now,
		Class:        r.Decision.Class.String(),
		Reason:       reason,
		Rule:         r.Decision.Rule,
		Message:      cut(r.Err.Error(), attemptTextBytes),
		DelaySeconds: r.Delay.Seconds(),
		RequestID:    requestID(ctx),
	}
	if a.Start.IsZero() {
		a.Start = now
	}
	r.Job.History = m.Job.History.Append(a)
	if r.Outcome == OutcomeDead {
		r.Failure = evidence(r, now)
	}
}

func evidence(r *Result, now time.Time) *Failure {
	f := &Failure{
		Class:    r.Decision.Class.String(),
		Reason:   r.Decision.Reason,
		Rule:     r.Decision.Rule,
		Types:    fault.Types(r.Err),
		Message:  cut(r.Err.Error(), failureTextBytes),
		Stack:    stack(r.Err),
		Key:      r.Job.Key,
		Epoch:    r.Job.Epoch,
		Attempts: r.Job.Attempts,
		History:  r.Job.History,
		First:    r.Job.History.Attempts[0].Start,
		Last:     now,
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
	"handler.stack": true, "handler.evidence": true, "handler.account": true,
	"handler.(*resolver).resolve": true, "handler.(*Message).Resolve": true,
}

// fingerprint leaves out texts and times, so that failures of one kind count as one.
func fingerprint(f *Failure) string {
	top, _, _ := strings.Cut(f.Stack, "\n")
	parts := append([]string{f.Class, f.Reason, f.Rule, top}, f.Types...)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// cut shortens s to at most limit bytes without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
