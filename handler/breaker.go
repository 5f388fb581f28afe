package handler

import "github.com/sqsafe/sqsafe/fault"

// breaker stops a batch whose jobs meet a dependency that is down. A partial
// batch response does not slow down Lambda's polling, so nothing else would.
type breaker struct {
	limit    int // below 1 it never opens
	failures int // in a row
}

// note counts a failure of the surroundings. Success and any other retry show
// that they work; a permanent failure may have come before they were asked.
func (b *breaker) note(r *Result) {
	reason := r.Decision.Reason
	if reason == ReasonExhausted || reason == ReasonMaxReceives {
		reason = lastReason(r)
	}
	switch r.Outcome {
	case OutcomeRetry, OutcomeDead, OutcomeDropped:
		if infrastructure[reason] {
			b.failures++
		} else if r.Outcome == OutcomeRetry {
			b.failures = 0
		}
	case OutcomeDone:
		b.failures = 0
	}
}

// lastReason is why the last run of a job failed.
func lastReason(r *Result) string {
	if n := len(r.Job.History.Attempts); n > 0 {
		return r.Job.History.Attempts[n-1].Reason
	}
	return ""
}

func (b *breaker) open() bool { return b.limit > 0 && b.failures >= b.limit }

var infrastructure = map[string]bool{
	fault.ReasonConnection: true, fault.ReasonTimeout: true, fault.ReasonUnavailable: true,
	fault.ReasonRateLimited: true, fault.ReasonEnvironment: true, fault.ReasonStore: true, fault.ReasonReadOnly: true,
}
