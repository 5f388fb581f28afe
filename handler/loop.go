package handler

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

// loop handles an event, and those that are posted meanwhile: it carries out the actions of
// the run queue that follow. It is the event loop of the batch, and one worker at a time is
// in it. It returns the next task of this worker; nil for none.
func (b *batch) loop(e event) (own task) {
	for ok := true; ok; e, ok = b.workers.next(own) {
		if own != nil { // the task must not wait for this event
			b.workers.give(own)
		}
		b.own = nil
		e()
		b.checkOutside()
		b.perform()
		if b.queue.Idle() && b.letters.isEmpty() {
			b.finishBatch()
			return nil
		}
		b.setTimer()
		own = b.own
	}
	return own
}

// checkOutside handles what does not come as an event, before more starts: times that have
// passed, and a host that drains the batch or cancels it.
func (b *batch) checkOutside() {
	if at := b.times.next; !at.IsZero() && !time.Now().Before(at) {
		b.onTimer()
	}
	select {
	case <-b.draining:
		b.draining = nil
		b.queue.Drain()
	default:
	}
	if b.ctx.Err() != nil && !b.stopping && !b.times.cut {
		b.onCancelled()
	}
}

// onTimer handles the time that the timer was set to.
func (b *batch) onTimer() {
	b.times.next = time.Time{}
	b.passTime(time.Now())
}

// tell passes on to the loop what happens outside of the batch. When all deliveries have
// ended, that does not matter any more.
func (b *batch) tell(e event) {
	b.workers.post(func() {
		if !b.ending {
			e()
		}
	})
}

// close ends the batch. p is a panic of the engine itself; nil if there was none.
func (b *batch) close(p *usercall.Panic) {
	if b.workers.close() {
		b.writes.end()
		b.failed = p
		close(b.over)
	}
}

// finishBatch hides the failed messages and calls the hooks after every delivery has ended.
// Then the batch is over.
func (b *batch) finishBatch() {
	b.ending = true
	b.timer.Stop()
	b.cancelJobs()
	if b.crash != nil { // without a ledger, what is not deleted runs again
		b.deleteFinished()
	}
	b.hideAll()
	if b.crash != nil {
		b.logCrash(b.crash.Err)
	}
	for b.runningHooks > 0 {
		b.workers.wait()()
	}
	b.callOnBatch()
	b.close(nil)
}

// begin is the first event.
func (b *batch) begin() {
	if b.table.Bounded() {
		b.jobs, b.cancelJobs = context.WithDeadline(b.ctx, b.table.At(deadline.Cut))
	} else {
		b.jobs, b.cancelJobs = context.WithCancel(b.ctx)
	}
	b.setLastStart(b.start)
	if b.process.poisoned() != nil {
		b.queue.Poison()
	}
	b.passTime(b.start)
	if b.table.Bounded() && len(b.deliveries) > 0 && !b.start.Before(b.table.End()) {
		b.warnOfPastDeadline()
	}
}
