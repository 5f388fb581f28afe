package handler

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

// assign has a worker run a task: the worker in the loop if it has none yet, as soon as it is
// out of the loop, otherwise another one.
func (b *batch) assign(t task) {
	if b.own == nil {
		b.own = t
	} else {
		b.workers.give(t)
	}
}

// endOf returns the last event of a task. If runtime.Goexit ended the task, its worker is
// gone too and cannot enter the loop with the event, so it is posted.
func (b *batch) endOf(p *usercall.Panic, e event) event {
	if p != nil && p.Goexit {
		b.workers.post(e)
	}
	return e
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
// no deadline. Goroutines other than the loop pass the table that was there when they began,
// since the loop may replace it.
func (b *batch) stageContext(t *deadline.Table, s deadline.Stage) (context.Context, context.CancelFunc) {
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
