package handler

import (
	"context"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

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

// settle writes the end of a claim behind the run, on a goroutine of its own.
func (b *batch) settle(d *delivery, ending func(context.Context) Ending) {
	ctx, cancel := b.settleContext()
	m, claim := d.message, d.claim
	b.assign(func() {
		defer cancel()
		var e Ending
		var res *Result
		usercall.Catch(
			func() error {
				e = ending(ctx)
				if res = claim.Settle(ctx, e); res != nil {
					res = b.resolver.complete(ctx, m, res.Job, res)
				}
				return nil
			},
			func(err error, p *usercall.Panic) {
				if err = asError(err, p); err != nil || res == nil {
					res = b.unwritten(m, e, err)
				}
				b.postEnd(p, func() { b.conclude(d, res) })
			},
		)
	})
}

// unwritten is the result where the ledger itself failed, by a panic or without an
// answer.
func (b *batch) unwritten(m *Message, e Ending, err error) *Result {
	if err == nil {
		err = errNoAnswer
	}
	res := b.resolver.storeFailed(m, fmt.Errorf("settling: %w", err))
	if e.Result != nil && e.Result.Outcome == OutcomeDone {
		res.Outcome = OutcomeUnrecorded
	}
	return res
}

// conclude takes in the final result of a delivery. A dead one goes on to the
// dead-letter queue.
func (b *batch) conclude(d *delivery, res *Result) {
	d.result = res
	if d.probe && !d.settledRun(res) {
		b.breaker.unused()
	}
	if res.Decision.Reason == fault.ReasonStore && (d.run == nil || !d.run.started()) {
		b.breaker.note(res, false, time.Now()) // the ledger is down
	}
	if res.Outcome == OutcomeDead && b.options.DeadLetter != nil {
		b.queue.Sending(d.index)
		b.letters.add(b, d)
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
	b.noteEnd(d)
	b.log(d)
}

func (b *batch) noteEnd(d *delivery) {
	d.acked.Store(d.acknowledged())
	b.leaveWork(d)
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

// acknowledged reports whether the message may be deleted from its queue.
func (d *delivery) acknowledged() bool {
	switch d.result.Outcome {
	case OutcomeDone, OutcomeDuplicate, OutcomeDropped:
		return true
	case OutcomeDead:
		return d.sent
	default:
		return false
	}
}
