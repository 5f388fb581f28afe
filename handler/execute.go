package handler

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

// startRun runs a delivery, unless the process is taken.
func (b *batch) startRun(d *delivery, quiet bool) {
	if b.enter(d, quiet) {
		b.launch(d)
	}
}

// launch starts the goroutine of a run. Without a ledger it begins with decoding.
func (b *batch) launch(d *delivery) {
	r := d.run
	if r == nil {
		r = b.newRun(b.jobs, d)
	}
	d.phase = phaseRunning
	r.claim, r.probe, r.launched = d.claim, d.probe, time.Now()
	alone := d.alone
	b.assign(func() {
		ctx, cancel := context.WithCancel(r)
		defer cancel()
		r.crew.cancelBy(cancel)
		var result *Result
		usercall.Catch(
			func() error { result = b.carry(ctx, r, alone); return nil },
			func(err error, p *usercall.Panic) {
				if p != nil {
					result = b.unfinished(r, asError(err, p))
				}
				b.postEnd(p, func() { b.ran(d, r, result) })
			},
		)
	})
}

// carry takes a delivery through middleware and function to its result.
func (b *batch) carry(ctx context.Context, r *run, alone bool) *Result {
	switch {
	case b.options.Ledger == nil:
		if rejected := b.prepare(r); rejected != nil {
			return rejected
		}
	case alone:
		if err := b.count(ctx, r.claim); err != nil {
			r.uncounted = err
			return b.notCounted(r.message, err)
		}
	}
	job, stop := ctx, func() {}
	if r.claim != nil {
		job, stop = r.claim.Run(ctx)
		r.stop.Store(&stop)
	}
	defer stop()
	err := rejectTypedNil(b.chain(job, r.message))
	err = b.joinStrays(job, r, err)
	if err == nil && !r.started() {
		return &Result{
			Outcome: OutcomeDropped, Decision: fault.Decision{Reason: ReasonMiddleware}, Job: r.message.Job,
		}
	}
	return b.decide(job, r, err)
}

// count writes that the run of a delivery may crash the process.
func (b *batch) count(ctx context.Context, claim Claim) error {
	ctx, cancel := context.WithTimeout(ctx, deadline.Grace)
	defer cancel()
	return catchPanic(func() error { return claim.CountCrash(ctx, true) })
}

// notCounted is the result of a delivery that may not run since its crash could not
// be counted.
func (b *batch) notCounted(m *Message, err error) *Result {
	if reason := endReason(b.jobs); reason != "" {
		return b.resolver.deferred(m, reason, nil)
	}
	return b.resolver.storeFailed(m, fmt.Errorf("counting a crash: %w", err))
}

// unfinished is the result of a run that ended by a panic outside of the function, or
// by runtime.Goexit.
func (b *batch) unfinished(r *run, err error) *Result {
	if b.options.Ledger == nil && r.work == nil {
		return b.undecoded(r, err)
	}
	result := crashed(r.message, err)
	if b.options.PanicAsPermanent && stage(r.stage.Load()) == stageFunction { // its goroutine is gone
		err = demotePanic(r.crew.join(err))
		if catchPanic(func() error { result = b.decide(b.jobs, r, err); return nil }) == nil {
			return result
		}
	}
	b.process.poisonBy(result)
	return result
}

// decide is the last word on a run. An error of middleware comes here unclassified.
// A Result that decides nothing counts as a failure of the process.
func (b *batch) decide(ctx context.Context, r *run, err error) *Result {
	res := b.resolver.resolve(ctx, r.message, r, err)
	if res.Job.Key != r.message.Job.Key { // a result that the user made says nothing of the job
		res.Job = r.message.Job
	}
	if res.Outcome == OutcomeNone || res.Outcome > OutcomeDropped {
		return &Result{
			Outcome: OutcomeCrash, Decision: fault.Decision{Reason: ReasonNoOutcome}, Err: res, Job: r.message.Job,
		}
	}
	res = b.resolver.complete(ctx, r.message, res.Job, res)
	return b.resolver.lastWord(ctx, r.message, r, res)
}

// joinStrays waits for calls of the function that middleware has left behind, and for
// goroutines that it has started by [Go], which are none of the function's: a panic
// counts, an error is logged.
func (b *batch) joinStrays(ctx context.Context, r *run, err error) error {
	if res := AsResult(err); res != nil && res.Outcome == OutcomeCrash {
		return err
	}
	_ = r.calls.join(nil)
	stray := r.crew.join(nil)
	if stray == nil {
		return err
	}
	if p, ok := asPanic(stray); ok {
		return p
	}
	b.options.Logger.LogAttrs(ctx, slog.LevelError, "goroutine failed outside of the handler",
		slog.String("messageId", r.message.MessageId), slog.String("error", truncate(text(stray), logTextBytes)))
	return err
}

// failedBefore reports whether the last run of the job failed by what it depends on.
// Without a ledger a message that comes again is taken for one that did.
func (d *delivery) failedBefore() bool {
	if d.claim == nil {
		return d.message.ReceiveCount() > 1
	}
	attempts := d.job.History.Attempts
	return len(attempts) > 0 && infrastructure[attempts[len(attempts)-1].Reason]
}

// ran takes in the end of a run.
func (b *batch) ran(d *delivery, r *run, res *Result) {
	if d.left {
		return
	}
	now := time.Now()
	d.phase, b.times.lastFreed = phaseNone, now
	if r.started() && b.jobs.Err() == nil {
		b.process.noteRun(now.Sub(r.launched))
		b.times.lastStart = b.table.LastStart(b.process.longest())
	}
	if r.started() || res.Decision.Reason != fault.ReasonStore {
		b.breaker.note(res, d.failedBefore(), now)
	}
	if res.Outcome == OutcomeCrash {
		b.onCrash(res)
	} else { // else a goroutine that was left behind may read it
		r.message.asReceived(d.record)
	}
	b.toSettle(d, r.started())
	if d.claim == nil {
		b.conclude(d, res)
		return
	}
	ending := Ending{
		Result: res, Started: r.started(), Alone: d.alone && r.uncounted == nil,
		Blamed: res.Outcome == OutcomeCrash && r.panicked.Load(),
	}
	b.settle(d, func(context.Context) Ending { return ending })
}
