package handler

import "github.com/sqsafe/sqsafe/fault"

// breaker stops a batch whose jobs meet a dependency that is down. A partial
// batch response does not slow down Lambda's polling, so nothing else would.
type breaker struct {
	limit    int // below 1 it never opens
	failures int // in a row
}

// note counts a failure of the surroundings; any other end of a run shows that
// they work.
func (b *breaker) note(r *Result) {
	switch {
	case r.Outcome == OutcomeRetry && infrastructure[r.Decision.Reason]:
		b.failures++
	case r.Outcome == OutcomeDead && r.Decision.Reason == ReasonExhausted && infrastructure[lastReason(r)]:
		b.failures++
	case r.Outcome == OutcomeDone, r.Outcome == OutcomeRetry:
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
	fault.ReasonRateLimited: true, fault.ReasonEnvironment: true, fault.ReasonStore: true,
}
