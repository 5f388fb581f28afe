package handler

import (
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// take does what a signal calls for.
func (b *batch) take(s signal) {
	switch {
	case s.entry == nil:
		b.delivered(s.sent)
	case s.parked != stateWaiting:
		b.park(s.entry, s.parked)
	case s.entry.state == stateRunning:
		b.running--
		b.end(s.entry, s.result)
	}
}

// end gives a message its result, and what waits for it its turn.
func (b *batch) end(e *entry, r *Result) {
	e.result, e.state = r, stateEnded
	b.breaker.note(r)
	if r.Outcome == OutcomeCrash {
		b.crash = r
		b.options.Process.distrust(r)
		b.wakeAll()
	}
	b.log(e)
	b.wakeTwins(e)
	leaves := e.message.FIFO()
	if r.Outcome == OutcomeDead && b.options.DeadLetter != nil {
		b.outbox.add(b, e)
		leaves = false
	}
	if leaves {
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

// abandon ends the wait for messages that have not come back though they were
// cut off. Their goroutines may still run, so the process ends; what those may
// still write is not looked at.
func (b *batch) abandon() {
	for _, e := range b.entries {
		if e.state != stateRunning {
			continue
		}
		e.message = &Message{SQSMessage: e.message.SQSMessage, resolver: b.resolver, received: b.invocation.start}
		b.running--
		b.end(e, &Result{
			Outcome: OutcomeCrash, Decision: fault.Decision{Reason: ReasonAbandoned}, Err: ErrAbandoned,
		})
	}
}

// lost gives a channel that tells when messages that were cut off are not waited
// for any longer.
func (inv *invocation) lost() (c <-chan time.Time, stop func()) {
	if !inv.bounded() {
		return nil, func() {}
	}
	timer := time.NewTimer(time.Until(inv.cut()) + 2*inv.grace())
	return timer.C, func() { timer.Stop() }
}
