package handler

import (
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// conclude sets the final result of a delivery. A dead job is passed on to the outbox.
func (b *batch) conclude(d *delivery, res *Result) {
	if d.noVerdict {
		res = b.resolver.leftBehind(b.ctx, d.message, d.run, res)
	}
	d.result = res
	if res.Outcome != OutcomeCrash { // else a goroutine that was left behind may read it
		d.message.asReceived(d.record)
	}
	if res.Decision.Reason == fault.ReasonStore && (d.run == nil || !d.run.started()) {
		b.breaker.note(res, false, time.Now()) // the ledger is down
	}
	if res.Outcome == OutcomeDead && b.options.DeadLetter != nil {
		b.queue.Sending(d.index)
		b.queue.Promising(d.index)
		b.letters.add(d)
	} else {
		b.finish(d)
	}
	b.log(d) // the logger may be what hangs, so it comes last
	b.callOnError(d, res)
}

// settledRun reports whether the probe gave information about the dependency.
func (d *delivery) settledRun(res *Result) bool {
	return d.run != nil && d.run.started() && res.Outcome != OutcomeDeferred || res.Decision.Reason == fault.ReasonStore
}

// finish ends a delivery that has its result and reports that to the run queue.
func (b *batch) finish(d *delivery) {
	b.recordEnd(d)
	b.queue.Ended(d.index, d.acked.Load())
}

// inTurn reports whether an outcome may be set for a delivery: it is the head of its FIFO
// group, and none before it has failed. True without a group.
func (b *batch) inTurn(d *delivery) bool { return b.queue.IsHead(d.index) && b.heads[d.group] == nil }

// hold keeps a claim that was made before its turn.
func (b *batch) hold(d *delivery, goOn event) {
	d.goOn = goOn
	b.held = append(b.held, d)
}

// resume goes on with claims that are held: with those of heads, and with those to give back.
// It reports whether there were any.
func (b *batch) resume() (resumed bool) {
	for n := 0; n < len(b.held); {
		d := b.held[n]
		if !b.queue.IsHead(d.index) && !b.queue.IsOver(d.index) {
			n++
			continue
		}
		b.held = slices.Delete(b.held, n, n+1)
		goOn := d.goOn
		d.goOn, resumed = nil, true
		goOn()
	}
	return resumed
}

// deferred returns the result of a delivery that is left to a later receive. Behind a failed
// head it comes back with that.
func (b *batch) deferred(d *delivery, reason string) *Result {
	res := b.resolver.deferred(d.message, reason, nil)
	if head := b.heads[d.group]; reason == ReasonGroupHead && head != nil {
		res.Delay = head.result.Delay
	}
	return res
}

// deferNow ends a delivery that the run queue has deferred.
func (b *batch) deferNow(d *delivery, reason string) {
	d.result = b.deferred(d, reason)
	d.message.asReceived(d.record)
	b.recordEnd(d)
	b.log(d)
}

func (b *batch) recordEnd(d *delivery) {
	d.acked.Store(d.acknowledged())
	d.endedAt = time.Now()
	b.leaveProcess(d)
	if d.probe && !d.settledRun(d.result) {
		b.breaker.unused()
	}
	b.ended(d.record.MessageId)
	if d.acked.Load() {
		b.hider.addDone(b, d)
		return
	}
	if d.group > 0 && b.heads[d.group] == nil {
		if b.heads == nil {
			b.heads = map[int]*delivery{}
		}
		b.heads[d.group] = d
	}
	b.hider.add(b, d)
}
