package handler

import (
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// conclude takes in the final result of a delivery. A dead one goes on to the
// dead-letter queue.
func (b *batch) conclude(d *delivery, res *Result) {
	d.result = res
	if res.Outcome != OutcomeCrash { // else a goroutine that was left behind may read it
		d.message.asReceived(d.record)
	}
	if res.Decision.Reason == fault.ReasonStore && (d.run == nil || !d.run.started()) {
		b.breaker.note(res, false, time.Now()) // the ledger is down
	}
	if res.Outcome == OutcomeDead && b.options.DeadLetter != nil {
		b.queue.Sending(d.index)
		b.letters.add(d)
	} else {
		b.finish(d)
	}
	b.log(d) // the logger may be what hangs, so it comes last
	b.tellError(d, res)
}

// settledRun reports whether a probe has found something out.
func (d *delivery) settledRun(res *Result) bool {
	return d.run != nil && d.run.started() && res.Outcome != OutcomeDeferred || res.Decision.Reason == fault.ReasonStore
}

// finish ends a delivery that has its result, and tells the run queue.
func (b *batch) finish(d *delivery) {
	b.noteEnd(d)
	b.queue.Ended(d.index, d.acked.Load())
}

// deferNow ends a delivery that the run queue has sent home.
func (b *batch) deferNow(d *delivery, reason string) {
	res := b.resolver.deferred(d.message, reason, nil)
	if head := b.heads[d.group]; reason == ReasonGroupHead && head != nil {
		res.Delay = head.result.Delay
	}
	d.result = res
	d.message.asReceived(d.record)
	b.noteEnd(d)
	b.log(d)
}

func (b *batch) noteEnd(d *delivery) {
	d.acked.Store(d.acknowledged())
	b.leaveWork(d)
	if d.probe && !d.settledRun(d.result) {
		b.breaker.unused()
	}
	b.ended()
	if d.acked.Load() {
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
