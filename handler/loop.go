package handler

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadline"
)

// run processes the batch: it carries out the actions of the run queue and waits for
// events until every delivery has ended. Then it hides the failed messages and calls the
// hooks. It is the event loop of the batch.
func (b *batch) run() {
	defer close(b.over)
	defer close(b.tasks)
	b.begin()
	defer b.timer.Stop()
	defer b.writes.end()
	for {
		b.perform()
		if b.queue.Idle() && b.letters.isEmpty() {
			break
		}
		b.waitForEvent()
	}
	b.cancelJobs(nil)
	if b.crash != nil { // without a ledger, what is not deleted runs again
		b.deleteFinished()
	}
	b.hideAll()
	if b.crash != nil {
		b.logCrash(b.crash.Err)
	}
	for b.runningHooks > 0 {
		b.handleEvent(<-b.events)
	}
	b.callOnBatch()
}

func (b *batch) begin() {
	jobs := b.ctx
	stop := context.CancelFunc(func() {})
	if b.table.Bounded() {
		jobs, stop = context.WithDeadline(jobs, b.table.At(deadline.Cut))
	}
	var cancel context.CancelCauseFunc
	b.jobs, cancel = context.WithCancelCause(jobs)
	b.cancelJobs = func(cause error) { cancel(cause); stop() }
	b.timer = time.NewTimer(time.Hour)
	b.timer.Stop()
	b.setLastStart(b.start)
	if b.process.poisoned() != nil {
		b.queue.Poison()
	}
	b.passTime(b.start)
	if b.ctx.Err() == context.Canceled {
		b.onCancelled()
	}
	select {
	case <-b.draining:
		b.queue.Drain()
	default:
	}
	if b.table.Bounded() && len(b.deliveries) > 0 && !b.start.Before(b.table.End()) {
		b.warnOfPastDeadline()
	}
}

// waitForEvent waits for the next event and handles it.
func (b *batch) waitForEvent() {
	b.setTimer()
	cancelled := b.ctx.Done()
	if b.stopping || b.times.cut {
		cancelled = nil
	}
	select {
	case e := <-b.events:
		b.handleEvent(e)
	case <-b.processChanged:
		b.onProcessChanged()
	case <-b.draining:
		b.draining = nil
		b.queue.Drain()
	case <-cancelled:
		b.onCancelled()
	case <-b.timer.C:
		b.times.next = time.Time{}
		b.passTime(time.Now())
	}
}
