package handler

import (
	"sync"
	"time"
)

const (
	// firstPause is how long after the first probe the next run goes through an open
	// breaker. It doubles with each, up to probeEvery.
	firstPause = time.Second
	// probeEvery is how often a run goes through in the end.
	probeEvery = 10 * time.Second
	// freshSuccess is how long after a success the failures of jobs that failed so
	// before say nothing.
	freshSuccess = 10 * time.Second
)

// breaker stops the jobs of a processor when what they depend on is down. A
// partial batch response does not slow down Lambda's polling, so nothing else
// would. It opens after a number of such failures in a row. Then one run at a time
// finds out whether it may close, the first of them at once: so jobs that fail in a
// row by chance delay the others by one run only. It is safe for concurrent use.
//
// Jobs that failed so before come back again and again. Where only a part of the jobs
// has an endpoint that is down, most runs are soon theirs, so that they fail in a row
// all the time. So while others succeed they do not count.
type breaker struct {
	limit int // below 1 it never opens

	mu       sync.Mutex
	failures int // in a row
	// opened is when it opened, probed when the last probe was granted, and pause how
	// long the next first delivery has to wait then.
	opened, probed time.Time
	pause          time.Duration
	worked         time.Time // when something showed last that it works
}

// note counts a failure of what jobs depend on; again reports whether the job failed so
// before. Success and any other retry show that it works. A permanent failure may have
// come before the job asked for it.
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

// probe reports whether a job may run although the breaker is open; first reports
// whether it is a first delivery. One that comes again has mostly failed before, and
// says little.
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

// unused gives a probe back that did not come to the end of a run.
func (b *breaker) unused() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probed = time.Time{}
}

// succeeded notes that what jobs depend on works.
func (b *breaker) succeeded(now time.Time) {
	b.failures, b.pause, b.probed, b.worked = 0, 0, time.Time{}, now
}

func latest(t, u time.Time) time.Time {
	if t.Before(u) {
		return u
	}
	return t
}
