package handler

import (
	"time"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
)

const (
	// unknownMaxReceives stands for a maxReceiveCount that is not known.
	unknownMaxReceives = 30
	// leaseShare is how much longer at most than its lease a message is hidden, so
	// that those which wait for one lease come back one by one.
	leaseShare = 0.20
	// From half of its receives on a deferred message stays away from longDeferral to
	// three times that.
	longDeferral = 5 * time.Minute
	// aloneDeferral is how long a suspect stays away that did not find the process
	// idle.
	aloneDeferral = time.Minute
)

// deferBackoff spreads over its full width: deferred messages come back together.
var deferBackoff = backoff.Exponential{Cap: time.Minute, Jitter: 1}

// storeBackoff is for messages that found the ledger down.
var storeBackoff = backoff.Exponential{Cap: 5 * time.Minute}

// Defer is what middleware returns to leave a message to a later receive, at no cost
// to its budget: it comes back after delay, of at least a second. The reason goes
// into log and metrics.
func Defer(reason string, delay time.Duration) error {
	return &Result{
		Outcome: OutcomeDeferred, Decision: fault.Decision{Reason: reason}, Delay: max(delay, time.Second),
	}
}

// resolver turns errors into results, for one processor.
type resolver struct {
	options Options
}

// deferred is the result of a message that was not started, or cut off for no fault
// of its own: it comes back soon, later with each receive, and its budget stays as it
// is. Err is what it was cut off with; nil if it was not started.
func (rs *resolver) deferred(m *Message, reason string, err error) *Result {
	return &Result{
		Outcome:  OutcomeDeferred,
		Decision: fault.Decision{Reason: reason},
		Err:      err,
		Job:      m.Job,
		Delay:    rs.deferral(m, reason),
	}
}

// deferral is how long a deferred message stays away. Receives are the budget that a
// deferral uses up: so past half of them it takes long.
func (rs *resolver) deferral(m *Message, reason string) time.Duration {
	most := rs.options.MaxReceives
	if most <= 0 {
		most = unknownMaxReceives
	}
	if 2*m.ReceiveCount() > most {
		return rs.round(longDeferral + time.Duration(2*rs.options.Random()*float64(longDeferral)))
	}
	delay := deferBackoff.Delay(m.ReceiveCount(), rs.options.Random)
	if reason == ReasonNotAlone {
		delay = max(delay, backoff.Spread(aloneDeferral, leaseShare, rs.options.Random))
	}
	return rs.round(delay)
}

// setDelay chooses the delay of a Result that names a time, or that found the ledger
// down.
func (rs *resolver) setDelay(m *Message, res *Result) {
	switch {
	case !res.Until.IsZero():
		res.Delay = max(res.Delay, rs.remainingLease(res.Until))
	case res.Delay <= 0 && res.Outcome == OutcomeRetry && res.Decision.Reason == fault.ReasonStore:
		res.Delay = rs.round(storeBackoff.Delay(m.ReceiveCount(), rs.options.Random))
	case res.Delay <= 0 && res.Outcome == OutcomeDeferred:
		res.Delay = rs.deferral(m, res.Decision.Reason)
	}
}

// remainingLease returns the time until a lease ends, plus up to 20 % jitter, and at
// least a second. It is rounded by chance, but never to before the lease's end: the
// message would find the job claimed and have used up a receive. So a fraction may
// be left, which is rounded up when the message is hidden.
func (rs *resolver) remainingLease(until time.Time) time.Duration {
	left := max(time.Until(until), time.Second)
	spread := backoff.Spread(left, leaseShare, rs.options.Random)
	return max(backoff.WholeSeconds(spread, rs.options.Random), left)
}

// round returns whole seconds, and never less than one: nothing is retried at once.
func (rs *resolver) round(d time.Duration) time.Duration {
	return max(backoff.WholeSeconds(d, rs.options.Random), time.Second)
}
