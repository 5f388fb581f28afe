package handler

import (
	"sync"
	"time"
)

const (
	// firstPause is the wait after a failed probe before the next one. It doubles up to
	// probeEvery.
	firstPause = time.Second
	// probeEvery is how often a run goes through in the end.
	probeEvery = 10 * time.Second
	// freshSuccess is how long a success counts as recent. After a recent success,
	// failures of jobs that failed before are ignored.
	freshSuccess = 10 * time.Second
)

// breaker is a circuit breaker: it stops the jobs of a processor while a dependency is
// down. A partial batch response does not slow down Lambda's polling, so nothing else
// would. It opens after a number of such failures in a row. While it is open, one job at
// a time runs as a probe, the first of them at once. So after a few random failures in a
// row the others wait for one run only. It is safe for concurrent use.
//
// Jobs that failed before are redelivered again and again. If only one of several
// dependencies is down, most runs are soon of its jobs, and these fail in a row. So while
// other jobs succeed, their failures are not counted.
type breaker struct {
	limit int // below 1 it never opens

	mu       sync.Mutex
	failures int // in a row
	// opened is when the breaker opened, probed when the last probe was granted. pause is
	// the wait before the next probe by a first delivery.
	opened, probed time.Time
	pause          time.Duration
	worked         time.Time // when something showed last that it works
}

// note counts a failure of a dependency. again reports whether the job failed so before.
// Success and any other retry show that the dependency works. A permanent failure shows
// nothing: it may have come before the job called the dependency.
func (b *breaker) note(r *Result, again bool, now time.Time) {
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
		case failed && again && now.Sub(b.worked) < freshSuccess:
		case failed:
			if b.failures++; b.failures == b.limit {
				b.opened = now
			}
		case r.Outcome == OutcomeRetry:
			b.succeeded(now)
		}
	case OutcomeDone:
		b.succeeded(now)
	}
}

// lastReason returns the reason of the job's last failed run.
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

// probe reports whether a job may run although the breaker is open. first reports whether
// it is a first delivery. A redelivered job has usually failed before and gives little
// information.
func (b *breaker) probe(first bool, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open() {
		return true
	}
	since, pause := b.probed, b.pause
	if !first {
		since, pause = latest(b.probed, b.opened), probeEvery
	}
	if now.Sub(since) < pause {
		return false
	}
	b.probed, b.pause = now, min(max(2*b.pause, firstPause), probeEvery)
	return true
}

// unused allows another probe at once, since the last one did not run to its end.
func (b *breaker) unused() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probed = time.Time{}
}

// succeeded records that the dependency works.
func (b *breaker) succeeded(now time.Time) {
	b.failures, b.pause, b.probed, b.worked = 0, 0, time.Time{}, now
}

func latest(t, u time.Time) time.Time {
	if t.Before(u) {
		return u
	}
	return t
}
