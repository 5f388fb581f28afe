package handler

import (
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// probeEvery is how often a run goes through an open breaker.
const probeEvery = 10 * time.Second

// breaker stops the jobs of a processor when what they depend on is down. A
// partial batch response does not slow down Lambda's polling, so nothing else
// would. It opens after a number of such failures in a row. Then one run at a time
// finds out whether it may close, the first of them at once: so jobs that fail in a
// row by chance delay the others by one run only. It is safe for concurrent use.
type breaker struct {
	limit int // below 1 it never opens

	mu       sync.Mutex
	failures int // in a row
	probed   time.Time
}

// note counts a failure of what jobs depend on. Success and any other retry show
// that it works. A permanent failure may have come before the job asked for it.
func (b *breaker) note(r *Result) {
	reason := r.Decision.Reason
	if reason == ReasonExhausted || reason == ReasonMaxReceives {
		reason = lastReason(r)
	}
	failed := infrastructure[reason]
	b.mu.Lock()
	defer b.mu.Unlock()
	switch r.Outcome {
	case OutcomeRetry, OutcomeDead, OutcomeDropped:
		switch {
		case failed:
			b.failures++
		case r.Outcome == OutcomeRetry:
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

func (b *breaker) isOpen() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open()
}

func (b *breaker) open() bool { return b.limit > 0 && b.failures >= b.limit }

// probe reports whether a job may run although the breaker is open.
func (b *breaker) probe(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open() {
		return true
	}
	if now.Sub(b.probed) < probeEvery {
		return false
	}
	b.probed = now
	return true
}

// unused gives a probe back that did not come to the end of a run.
func (b *breaker) unused() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probed = time.Time{}
}

var infrastructure = map[string]bool{
	fault.ReasonConnection: true, fault.ReasonTimeout: true, fault.ReasonUnavailable: true,
	fault.ReasonRateLimited: true, fault.ReasonEnvironment: true, fault.ReasonStore: true, fault.ReasonReadOnly: true,
}
