package handler

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

// assign runs a task on a worker, which is a goroutine that the batch uses again: user
// code and the clients of AWS need deep stacks, and to grow one anew for each message
// costs more than small jobs do.
func (b *batch) assign(task func()) {
	if b.idle > 0 {
		b.idle--
		b.tasks <- task // has room for all that are idle
		return
	}
	go func() {
		reserveStack(0)
		for more := true; more; task, more = <-b.tasks {
			task()
		}
	}()
}

// reserveStack grows the stack of a worker to what decoding needs, at once instead of
// by doubling: each time all frames are copied. That is a quarter of what a batch of one
// message costs.
//
//go:noinline
func reserveStack(at int) byte {
	var room [12 << 10]byte
	return room[at]
}

// postEnd hands the last event of a task to the loop. Its worker is idle then, unless
// the task has ended it by runtime.Goexit.
func (b *batch) postEnd(p *usercall.Panic, take func()) {
	b.post(event{take: take, idle: p == nil || !p.Goexit})
}

// settleContext is for writes to the ledger. It outlives the cancellation of the
// batch, since what was decided is to be written all the same, but ends in time to
// answer.
func (b *batch) settleContext() (context.Context, context.CancelFunc) {
	return b.contextUntil(deadline.Settle)
}

// contextUntil ends with a stage. Without a deadline it ends after Grace.
func (b *batch) contextUntil(s deadline.Stage) (context.Context, context.CancelFunc) {
	return b.stageContext(b.table, s)
}

// stageContext is contextUntil for other goroutines than the loop, which changes the
// table: they have a copy.
func (b *batch) stageContext(t deadline.Table, s deadline.Stage) (context.Context, context.CancelFunc) {
	ctx := context.WithoutCancel(b.ctx)
	if !t.Bounded() {
		return context.WithTimeout(ctx, deadline.Grace)
	}
	return context.WithDeadline(ctx, t.At(s))
}

// enter counts a delivery as at work in the process, unless that is taken.
func (b *batch) enter(d *delivery, quiet bool) bool {
	if d.atWork {
		return true
	}
	if quiet && !d.quietSince.IsZero() && time.Since(d.quietSince) >= quietTime {
		quiet = false
	}
	if !b.process.begin(quiet) {
		if quiet && d.quietSince.IsZero() {
			d.quietSince = time.Now()
			b.times.quiet = d.quietSince.Add(quietTime)
		}
		b.queue.Refused(d.index)
		return false
	}
	d.atWork = true
	return true
}

// leaveWork counts a delivery off that waits, or has ended.
func (b *batch) leaveWork(d *delivery) {
	if d.atWork {
		b.process.end(d.settling)
		d.atWork, d.settling = false, false
	}
}

// toSettle notes that a delivery has its result and that the ledger is to learn it.
func (b *batch) toSettle(d *delivery, ran bool) {
	if d.atWork && !d.settling {
		d.settling = true
		b.process.settle()
	}
	b.queue.Settling(d.index, ran)
}
