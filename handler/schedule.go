package handler

import "context"

// signal is what a message tells the invocation's goroutine: that it has its
// result, or that it stepped aside; without an entry, that a call to the
// dead-letter queue is over, or a hook.
type signal struct {
	entry  *entry
	result *Result
	parked state
	sent   []*entry
	// hooked tells that a hook is being told of the result, unhooked that it was,
	// and idle that the carrier can take another message.
	hooked, unhooked, idle bool
}

// signal tells the invocation's goroutine, if it still listens.
func (b *batch) signal(s signal) {
	select {
	case b.signals <- s:
	case <-b.over:
	}
}

// group is a FIFO group: one message of it is on its way at a time.
type group struct {
	// busy is the message that is not settled, failed the one after which the
	// rest may not run.
	busy, failed *entry
}

// run starts what may start, and waits, until every message has its result and
// no dead letter is on its way.
func (b *batch) run() {
	defer close(b.over)
	defer close(b.errands)
	b.ending.begin(b)
	defer b.ending.stop()
	b.restore()
	b.sort()
	// A suspect runs when no message and no letter is under way.
	for b.fill(); b.busy() || b.outbox.flush(b) || b.wakeSuspect(); b.fill() {
		b.listen()
	}
}

// busy tells whether messages are under way, or a hook is.
func (b *batch) busy() bool { return b.running > 0 || b.hooking > 0 }

// listen waits for what happens next. That the time is over and that the process
// is to stop is seen by fill.
func (b *batch) listen() {
	select {
	case s := <-b.signals:
		b.take(s)
	case <-b.ending.cut:
		b.ending.cut = nil
	case <-b.ending.draining:
		b.ending.draining = nil
	case <-b.ending.timer.C:
		b.ending.next()
	}
}

// fill starts messages while there is room.
func (b *batch) fill() {
	b.release()
	for b.running+b.hooking < b.places() && b.pressing == 0 {
		e := b.next()
		switch {
		case e == nil:
			return
		case e.state == stateClaimed:
			b.wake(e)
		default:
			b.begin(e)
		}
	}
}

// next is the message to start: the scouts, and when all of them have shown
// whether they are suspects, the rest in its order.
func (b *batch) next() *entry {
	for len(b.scouts) > 0 {
		e := b.scouts[0]
		b.scouts = b.scouts[1:]
		if e.state == stateWaiting {
			e.scout = true
			return e
		}
	}
	if b.scouting > 0 {
		return nil
	}
	claimed, waiting := b.firstParked(stateClaimed), b.firstWaiting()
	if claimed == nil || waiting != nil && waiting.index < claimed.index {
		return waiting
	}
	return claimed
}

// firstWaiting is the first message that may be started.
func (b *batch) firstWaiting() *entry {
	for b.cursor < len(b.entries) && b.entries[b.cursor].state != stateWaiting {
		b.cursor++
	}
	for _, e := range b.entries[b.cursor:] {
		if e.state == stateWaiting && b.ready(e) {
			return e
		}
	}
	return nil
}

// ready tells whether no message of the same FIFO group is on its way.
func (b *batch) ready(e *entry) bool {
	if !e.fifo {
		return true
	}
	g := b.group(e)
	return g.busy == nil || g.busy == e
}

func (b *batch) group(e *entry) *group {
	if b.groups[e.group] == nil {
		if b.groups == nil {
			b.groups = map[string]*group{}
		}
		b.groups[e.group] = &group{}
	}
	return b.groups[e.group]
}

// begin starts a message, or says why it is not started.
func (b *batch) begin(e *entry) {
	reason := b.hindrance(e)
	switch {
	case reason == "":
		b.start(b.jobs, e)
	case b.resolver.lastReceive(e.message) && reason != ReasonGroupHead && reason != ReasonAfterCrash &&
		!b.invocation.pastVerdicts():
		// It has no other chance, so it goes through the chain to its verdict.
		e.message.unrunReason = reason
		b.start(b.last, e)
	default:
		b.end(e, b.unrun(e, reason))
	}
}

func (b *batch) start(ctx context.Context, e *entry) {
	if e.fifo {
		b.group(e).busy = e
	}
	e.state = stateRunning
	e.first = b.started == 0
	b.running++
	if e.scout {
		b.scouting++
	}
	b.started++
	b.dispatch(ctx, e)
}

// unrun is the result of a message that is not started. Those behind a group's
// head come back when it does.
func (b *batch) unrun(e *entry, reason string) *Result {
	r := e.message.Unrun(reason, nil)
	if reason == ReasonGroupHead {
		r.Delay = b.group(e).failed.result.Delay
	}
	return r
}

// hindrance is why a message may not start; empty if it may. The first always
// may, since with a short timeout none would ever run.
func (b *batch) hindrance(e *entry) string {
	switch {
	case b.stopped():
		return ReasonAfterCrash
	case e.fifo && b.group(e).failed != nil:
		return ReasonGroupHead
	case b.ctx.Err() == context.Canceled || closed(b.draining):
		return ReasonCancelled
	case b.started > 0 && b.invocation.over():
		return ReasonNoTime
	case b.breaker.open() && !b.resolver.lastReceive(e.message):
		return ReasonBreaker
	}
	return ""
}
