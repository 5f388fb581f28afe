package handler

import (
	"time"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
)

const (
	// unknownMaxReceives is used in place of an unknown maxReceiveCount.
	unknownMaxReceives = 30
	// leaseJitter is the greatest jitter on the time until a lease expires, as a
	// fraction. Messages that wait for one lease come back one by one.
	leaseJitter = 0.20
	// longDeferral is the least delay of a deferred message with more than half of its
	// receives used. The greatest is three times that.
	longDeferral = 5 * time.Minute
	// aloneDeferral is the least delay of a suspect that did not find the process idle.
	aloneDeferral = time.Minute
	// fewReceives is the number of receives below which a message that found no time waits
	// in line, however few it has used: in a batch of ten it may be the last ten times.
	fewReceives = 10
)

// deferBackoff has full jitter, since many messages are deferred at the same time.
var deferBackoff = backoff.Exponential{Cap: time.Minute, Jitter: 1}

// storeBackoff is the backoff of messages that could not reach the ledger.
var storeBackoff = backoff.Exponential{Cap: 5 * time.Minute}

// Defer returns an error for middleware that leaves a message to a later receive. It uses
// no budget. The message comes back after delay, at least a second. The reason is logged
// and counted in the metrics.
func Defer(reason string, delay time.Duration) error {
	return &Result{
		Outcome: OutcomeDeferred, Decision: fault.Decision{Reason: reason}, Delay: max(delay, time.Second),
	}
}

// resolver converts errors into results, for one processor.
type resolver struct {
	options Options
	process *process
}

// deferred returns the result of a message that did not start, or was cancelled through
// no fault of the job. The message comes back soon, later with each receive, and uses no
// budget. err is the error of the cancelled run; nil if it did not start.
func (rs *resolver) deferred(m *Message, reason string, err error) *Result {
	return &Result{
		Outcome:  OutcomeDeferred,
		Decision: fault.Decision{Reason: reason},
		Err:      err,
		Job:      m.Job,
		Delay:    rs.deferral(m, reason),
	}
}

// deferral returns the delay of a deferred message. Each deferral uses up a receive, so
// the delay is long once half of the receives are used.
func (rs *resolver) deferral(m *Message, reason string) time.Duration {
	delay := rs.longDeferral(m)
	if delay == 0 {
		delay = deferBackoff.Delay(m.ReceiveCount(), rs.options.Random)
	}
	switch {
	case reason == ReasonNotAlone:
		delay = max(delay, backoff.Spread(aloneDeferral, leaseJitter, rs.options.Random))
	case reason == ReasonNoTime && m.ReceiveCount()+1 == rs.options.MaxReceives:
		// A random wait would let two of them meet in one batch.
		delay = rs.line(m)
	case reason == ReasonNoTime && rs.hasFewReceives(m):
		delay = max(delay, rs.line(m))
	}
	return rs.round(delay)
}

// line returns how long a message waits that found no time. Before its last receive, and
// past half of them, it gets the time of the longest of the last runs, and more: it must
// not find others in its batch again.
func (rs *resolver) line(m *Message) time.Duration {
	now, used := time.Now(), m.ReceiveCount()
	last := used+1 == rs.options.MaxReceives
	runs, share := rs.process.pace.estimate(), slack
	run := runs.mean
	if last || 2*used > rs.maxReceives() {
		run = runs.longest
	}
	if run == 0 { // no run has ended yet
		run = now.Sub(m.received)
	}
	if last {
		share = 4 * slack
	}
	place := time.Duration(share * float64(run) / float64(rs.options.Concurrency*rs.process.invocations()))
	if last {
		// From longDeferral on, and without jitter: neighbours stay apart.
		return longDeferral + rs.process.pace.lineUp(place, now)
	}
	return rs.process.pace.lineUp(place, now) - time.Duration(rs.options.Random()*float64(place))
}

// hasFewReceives reports whether a message must not be received often again.
func (rs *resolver) hasFewReceives(m *Message) bool {
	most, used := rs.maxReceives(), m.ReceiveCount()
	return most-used < fewReceives || 2*used > most
}

// maxReceives returns the maxReceiveCount of the queue, or what stands for it.
func (rs *resolver) maxReceives() int {
	if rs.options.MaxReceives > 0 {
		return rs.options.MaxReceives
	}
	return unknownMaxReceives
}

// longDeferral returns the delay of a message that did not run and has used half of its
// receives; 0 if it has not.
func (rs *resolver) longDeferral(m *Message) time.Duration {
	if 2*m.ReceiveCount() <= rs.maxReceives() {
		return 0
	}
	return rs.round(longDeferral + time.Duration(2*rs.options.Random()*float64(longDeferral)))
}

// setDelay sets the delay of a Result that names a time, that was deferred, or that could
// not reach the ledger.
func (rs *resolver) setDelay(m *Message, res *Result) {
	switch {
	case !res.Until.IsZero():
		res.Delay = max(res.Delay, rs.remainingLease(res.Until))
	case res.Delay <= 0 && res.Outcome == OutcomeRetry && res.Decision.Reason == fault.ReasonStore:
		res.Delay = rs.round(storeBackoff.Delay(m.ReceiveCount(), rs.options.Random))
	case res.Delay <= 0 && res.Outcome == OutcomeDeferred:
		res.Delay = rs.deferral(m, res.Decision.Reason)
	}
	if res.Outcome == OutcomeBusy {
		// A job of hours is busy again and again for a copy of its message.
		res.Delay = max(res.Delay, rs.longDeferral(m))
	}
}

// remainingLease returns the time until a lease ends, plus up to 20 % jitter, and at
// least a second. Random rounding to whole seconds never moves it before the end of the
// lease: the message would find the job still claimed and have used up a receive. A
// fraction that is left is rounded up by timeout.
func (rs *resolver) remainingLease(until time.Time) time.Duration {
	left := max(time.Until(until), time.Second)
	spread := backoff.Spread(left, leaseJitter, rs.options.Random)
	return max(backoff.WholeSeconds(spread, rs.options.Random), left)
}

// round returns whole seconds, at least one: nothing is retried at once.
func (rs *resolver) round(d time.Duration) time.Duration {
	return max(backoff.WholeSeconds(d, rs.options.Random), time.Second)
}
