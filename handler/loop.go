package handler

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadline"
)

// run takes all deliveries to their outcome, and tells SQS what is to be told.
func (b *batch) run() {
	defer close(b.over)
	defer close(b.tasks)
	b.begin()
	defer b.timer.Stop()
	for {
		b.perform()
		if b.queue.Idle() && b.letters.isEmpty() {
			break
		}
		b.listen()
	}
	b.cancelJobs(nil)
	if b.crash != nil { // without a ledger, what is not deleted runs again
		b.deleteFinished()
	}
	b.hideAll()
	if b.crash != nil {
		b.logCrash(b.crash.Err)
	}
	for b.hooking > 0 {
		b.take(<-b.events)
	}
	b.onBatch()
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
	b.times.lastStart = b.table.LastStart(b.process.longest())
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

// listen waits for what happens next, and takes it in.
func (b *batch) listen() {
	b.setTimer()
	cancelled := b.ctx.Done()
	if b.stopping || b.times.cut {
		cancelled = nil
	}
	select {
	case e := <-b.events:
		b.take(e)
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
