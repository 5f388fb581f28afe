package handler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

const (
	attemptTextBytes = 256
	failureTextBytes = 8 << 10
)

// account writes the run into the job's history and, for a dead job, the
// evidence.
func (rs *resolver) account(ctx context.Context, m *Message, r *Result) {
	now := time.Now()
	a := Attempt{
		Number:       m.Job.History.Len() + 1,
		Start:        m.started,
		End:          now,
		Class:        r.Decision.Class.String(),
		Reason:       r.Decision.Reason,
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

// stack is the best that is known of where the error came from: the panic, the
// tag, or else this package.
func stack(err error) string {
	if p, ok := asPanic(err); ok {
		return p.Stack
	}
	if s := fault.Stack(err); s != "" {
		return s
	}
	return fault.Stack(fault.Permanent(err))
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
