package handler

import "slices"

// park takes a message that steps aside out of the way of others.
func (b *batch) park(e *entry, why state) {
	b.running--
	e.state = why
	b.parked = append(b.parked, e)
	b.cursor = min(b.cursor, e.index)
	if b.wakeReason() != "" || why == stateTwin && e.follows.state == stateEnded {
		b.wake(e)
	}
}

// wake lets a message that stepped aside go on, or tells it why not to.
func (b *batch) wake(e *entry) {
	i := slices.Index(b.parked, e)
	b.parked = slices.Delete(b.parked, i, i+1)
	e.state = stateRunning
	b.running++
	e.call <- b.wakeReason()
}

// wakeReason says why messages that stepped aside are not to go on; empty if
// they may.
func (b *batch) wakeReason() string {
	switch {
	case b.stopped():
		return ReasonAfterCrash
	case b.jobs.Err() != nil:
		return cutOff(b.jobs)
	case isDraining(b.ctx):
		return ReasonCancelled
	default:
		return ""
	}
}

func (b *batch) wakeAll() {
	for _, e := range slices.Clone(b.parked) {
		b.wake(e)
	}
}

func (b *batch) wakeTwins(first *entry) {
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
	next := b.urgentSuspect()
	if next == nil {
		next = b.parkedAs(func(e *entry) bool { return e.state == stateSuspect })
	}
	if next == nil {
		return false
	}
	b.prepareAll()
	b.wake(next)
	return true
}

// urgentSuspect is a suspect that has used up half of its receives: it runs
// before others, while it can still be dead-lettered with its evidence.
func (b *batch) urgentSuspect() *entry {
	return b.parkedAs(func(e *entry) bool { return e.state == stateSuspect && b.resolver.urgent(e.message) })
}

// parkedAs is the first in the order of the batch that fits.
func (b *batch) parkedAs(fits func(*entry) bool) *entry {
	var first *entry
	for _, e := range b.parked {
		if fits(e) && (first == nil || e.index < first.index) {
			first = e
		}
	}
	return first
}

func (b *batch) prepareAll() {
	for _, e := range b.entries {
		if e.state == stateWaiting {
			b.decode(withMessage(b.jobs, e.message), e.message)
		}
	}
}
