package handler

import (
	"errors"

	"github.com/sqsafe/sqsafe/fault"
)

// take does what a signal calls for.
func (b *batch) take(s signal) {
	if s.idle {
		b.idle++
	}
	if s.entry != nil {
		b.scouted(s.entry)
	}
	switch {
	case s.unhooked:
		b.hooking--
	case s.entry == nil:
		b.delivered(s.sent)
	case s.parked != stateWaiting:
		b.park(s.entry, s.parked)
	default:
		b.running--
		if s.hooked {
			b.hooking++
		}
		b.end(s.entry, s.result)
	}
}

// scouted notes that a message which was started early has shown what it is.
func (b *batch) scouted(e *entry) {
	if e.scout && !e.shown {
		e.shown = true
		b.scouting--
	}
}

// end gives a message its result, and what waits for it its turn.
func (b *batch) end(e *entry, r *Result) {
	e.result, e.state = r, stateEnded
	b.breaker.note(r)
	if r.Outcome == OutcomeCrash && b.crash == nil {
		b.crash = r
		b.options.Process.distrust(r)
		b.ending.hasten(b, b.cancelJobs)
	}
	b.log(e)
	b.wakeTwins(e)
	if r.Outcome == OutcomeDead && b.options.DeadLetter != nil {
		b.outbox.add(b, e)
		return
	}
	b.outOfDanger(e)
	if e.fifo {
		b.leaveGroup(e)
	}
}

// leaveGroup lets the next message of a FIFO group run only when e is out of its
// way: a dead message counts once the dead-letter queue has it.
func (b *batch) leaveGroup(e *entry) {
	g := b.group(e)
	g.busy = nil
	if !e.acknowledged() && g.failed == nil {
		g.failed = e
	}
}

// abandon gives up the messages that have not come back though they were cut
// off. Their goroutines may still run, so the process ends; what those may still
// write is not looked at.
func (b *batch) abandon() {
	for _, e := range b.entries {
		if e.state != stateRunning || !e.decided.CompareAndSwap(false, true) {
			continue
		}
		b.running--
		b.scouted(e)
		b.giveUp(e)
	}
}

// reportUndecided sees to it that every message has a result. One without is a
// mistake of this package, and the message comes back.
func (b *batch) reportUndecided() {
	for _, e := range b.entries {
		if e.result == nil {
			e.result = &Result{Outcome: OutcomeNone, Decision: fault.Decision{Reason: ReasonNoOutcome}}
			b.logError(e, "message without an outcome", errNoOutcome)
		}
	}
}

var errNoOutcome = errors.New("the batch ended without having decided the message")

// giveUp ends a message whose goroutine may still be at work on it.
func (b *batch) giveUp(e *entry) {
	e.message = b.received(e)
	r := &Result{Outcome: OutcomeCrash, Decision: fault.Decision{Reason: ReasonAbandoned}, Err: ErrAbandoned}
	b.end(e, r)
	if b.hooksOnError(r) {
		b.hooking++
		told := r.clone()
		go func() {
			b.onError(withMessage(b.ctx, e.message), e.message, told)
			b.signal(signal{unhooked: true})
		}()
	}
}
