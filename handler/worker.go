package handler

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

// assign runs a task on an idle worker, or on a new one. Workers are goroutines that the
// batch reuses. User code and the AWS clients need deep stacks, and growing a new stack
// for each message costs more than a small job.
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

// reserveStack grows the stack of a new worker at once to the size that decoding needs.
// Growth by doubling copies all frames each time, a quarter of the cost of a batch with
// one message.
//
//go:noinline
func reserveStack(at int) byte {
	var room [12 << 10]byte
	return room[at]
}

// postEnd posts the last event of a task. The worker is idle afterwards, unless
// runtime.Goexit ended it.
func (b *batch) postEnd(p *usercall.Panic, take func()) {
	b.post(event{apply: take, idle: p == nil || !p.Goexit})
}

// ledgerContext returns the context for writes to the ledger. Cancellation of the batch
// does not end it, since decided results must be written. It ends at deadline.Settle, in
// time for the response. All writes share it, unless the table has changed, or there is no
// deadline.
func (b *batch) ledgerContext() (context.Context, context.CancelFunc) {
	if !b.table.Bounded() {
		return b.stageContext(b.table, deadline.Settle)
	}
	w := &b.writes
	if until := b.table.At(deadline.Settle); w.ctx == nil || !until.Equal(w.until) {
		ctx, cancel := b.stageContext(b.table, deadline.Settle)
		w.ctx, w.until, w.cancels = ctx, until, append(w.cancels, cancel)
	}
	return w.ctx, func() {}
}

// end releases the contexts at the end of the batch.
func (w *writes) end() {
	for _, cancel := range w.cancels {
		cancel()
	}
}

// stageContext returns a context that ends at a stage, or after deadline.Grace if there is
// no deadline. Goroutines other than the loop use a copy of the table, since the loop may
// change it.
func (b *batch) stageContext(t deadline.Table, s deadline.Stage) (context.Context, context.CancelFunc) {
	ctx := context.WithoutCancel(b.ctx)
	if !t.Bounded() {
		return context.WithTimeout(ctx, deadline.Grace)
	}
	return context.WithDeadline(ctx, t.At(s))
}

// enterProcess counts a delivery as active in the process. It returns false if the
// process is taken.
func (b *batch) enterProcess(d *delivery, quiet bool) bool {
	if d.active {
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
	d.active = true
	return true
}

// leaveProcess stops counting a delivery as active when it waits or has ended.
func (b *batch) leaveProcess(d *delivery) {
	if d.active {
		b.process.end(d.settling)
		d.active, d.settling = false, false
	}
}

// markSettling records that a delivery has its result, which will be written to the
// ledger.
func (b *batch) markSettling(d *delivery, ran bool) {
	if d.active && !d.settling {
		d.settling = true
		b.process.settle()
	}
	b.queue.Settling(d.index, ran)
}
