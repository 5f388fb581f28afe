package handler

import "slices"

// releasedAtOnce is how many messages that stepped aside are sent home at a time:
// each may have a claim to give back.
const releasedAtOnce = 16

// park takes a message that steps aside out of the way of others.
func (b *batch) park(e *entry, why state) {
	if e.state != stateRunning {
		e.call <- ReasonAfterCrash // it was given up
		return
	}
	b.running--
	e.state = why
	b.parked = append(b.parked, e)
	b.parkedAs[why]++
	if why == stateSuspect && e.urgent {
		b.pressing++
	}
	if why == stateTwin && e.follows.state == stateEnded {
		b.wake(e)
	}
}

// wake lets a message that stepped aside go on, or tells it why not to.
func (b *batch) wake(e *entry) {
	reason := b.wakeReason()
	if reason == "" && e.state != stateTwin && b.breaker.open() && !b.resolver.lastReceive(e.message) {
		reason = ReasonBreaker
	}
	i := slices.Index(b.parked, e)
	b.parked = slices.Delete(b.parked, i, i+1)
	b.parkedAs[e.state]--
	if e.state == stateSuspect && e.urgent {
		b.pressing--
	}
	e.state = stateRunning
	b.running++
	e.call <- reason
}

// wakeReason says why messages that stepped aside are not to go on; empty if
// they may.
func (b *batch) wakeReason() string {
	switch {
	case b.stopped():
		return ReasonAfterCrash
	case b.jobs.Err() != nil:
		return cutOff(b.jobs)
	case closed(b.draining):
		return ReasonCancelled
	default:
		return ""
	}
}

// release sends home those that stepped aside, when they are not to go on.
func (b *batch) release() {
	if len(b.parked) == 0 || b.wakeReason() == "" {
		return
	}
	for len(b.parked) > 0 && b.running < max(releasedAtOnce, b.options.Concurrency) {
		b.wake(b.parked[len(b.parked)-1])
	}
}

func (b *batch) wakeTwins(first *entry) {
	if b.parkedAs[stateTwin] == 0 {
		return
	}
	for _, e := range slices.Clone(b.parked) {
		if e.state == stateTwin && e.follows == first {
			b.wake(e)
		}
	}
}

// wakeSuspect lets the next suspect run, when nothing else does. All messages
// are decoded before, so that a body which ends the process in its decoding
// brings no further suspicion on it.
func (b *batch) wakeSuspect() bool {
	next := b.nextSuspect()
	if next == nil {
		return false
	}
	if b.frail == 0 && !b.decoded {
		b.prepareAll()
	}
	b.wake(next)
	return true
}

// nextSuspect is one that has used up half of its receives, if there is such: it
// runs before others, while it can still be dead-lettered with its evidence.
func (b *batch) nextSuspect() *entry {
	if b.pressing == 0 {
		return b.firstParked(stateSuspect)
	}
	return b.firstOf(stateSuspect, func(e *entry) bool { return e.urgent })
}

func (b *batch) firstParked(as state) *entry {
	return b.firstOf(as, func(*entry) bool { return true })
}

// firstOf is the first in the order of the batch that stepped aside for a cause
// and fits.
func (b *batch) firstOf(as state, fits func(*entry) bool) *entry {
	if b.parkedAs[as] == 0 {
		return nil
	}
	var first *entry
	for _, e := range b.parked {
		if e.state == as && (first == nil || e.index < first.index) && fits(e) {
			first = e
		}
	}
	return first
}

// prepareAll has a share of the turn, since a payload may end the process.
func (b *batch) prepareAll() {
	turn := &b.options.Process.turn
	if !turn.take(b.jobs, b.draining, false) {
		return
	}
	defer turn.giveBack(false)
	for _, e := range b.entries {
		if e.state == stateWaiting && !e.message.prepared {
			if !b.decodeApart(withMessage(b.jobs, e.message), e.message) {
				b.giveUp(e)
				return
			}
		}
	}
	b.decoded = true
}
