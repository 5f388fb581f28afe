package handler

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/host"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

// startRun starts the run of a delivery, unless the process is taken by a lone run.
func (b *batch) startRun(d *delivery, quiet bool) {
	if b.enterProcess(d, quiet) {
		b.launch(d)
	}
}

// launch runs a delivery on a worker. Without a ledger the run begins with decoding.
func (b *batch) launch(d *delivery) {
	r := d.run
	if r == nil {
		r = b.newRun(b.jobs, d)
	}
	d.phase = phaseRunning
	r.claim, r.probe, r.launched = d.claim, d.probe, time.Now()
	alone := d.alone
	b.assign(func() (end event) {
		ctx, cancel := context.WithCancel(r)
		defer cancel()
		r.goroutines.setCancel(cancel)
		var result *Result
		usercall.Catch(
			func() error { result = b.execute(ctx, r, alone); return nil },
			func(err error, p *usercall.Panic) {
				if p != nil {
					result = b.unfinished(r, asError(err, p))
				}
				end = b.endOf(p, func() { b.ran(d, r, result) })
			},
		)
		return end
	})
}

// execute calls middleware and function for a delivery and returns the result.
func (b *batch) execute(ctx context.Context, r *run, alone bool) *Result {
	switch {
	case b.options.Ledger == nil:
		if rejected := b.prepare(r); rejected != nil {
			return rejected
		}
	case alone:
		if err := b.countCrash(ctx, r.claim); err != nil {
			r.uncounted = err
			return b.notCounted(r.message, err)
		}
		if b.drains(r.message) { // since the count was begun
			return b.resolver.deferred(r.message, ReasonCancelled, nil)
		}
	}
	job := ctx
	if r.claim != nil {
		of, stop := r.claim.Run(ctx)
		r.stop.Store(&stop)
		defer stop()
		job = of
	}
	err := rejectTypedNil(b.chain(job, r.message))
	err = b.waitForStrayGoroutines(job, r, err)
	if err == nil && !r.started() {
		return &Result{
			Outcome: OutcomeDropped, Decision: fault.Decision{Reason: ReasonMiddleware}, Job: r.message.Job,
		}
	}
	return b.decide(job, r, err)
}

// drains reports whether a message is left to a later receive, of which there is one, since
// the host stops.
func (b *batch) drains(m *Message) bool {
	select {
	case <-host.Draining(b.ctx):
		return !b.resolver.lastReceive(m)
	default:
		return false
	}
}

// countCrash counts a crash of the job in the ledger before a lone run.
func (b *batch) countCrash(ctx context.Context, claim Claim) error {
	ctx, cancel := context.WithTimeout(ctx, deadline.Grace)
	defer cancel()
	return catchPanic(func() error { return claim.CountCrash(ctx, true) })
}

// notCounted returns the result of a delivery that does not run because its crash could
// not be counted.
func (b *batch) notCounted(m *Message, err error) *Result {
	if reason := endReason(b.jobs); reason != "" {
		return b.resolver.lastWord(b.ctx, m, nil, b.resolver.deferred(m, reason, nil))
	}
	return b.resolver.storeFailed(m, fmt.Errorf("counting a crash: %w", err))
}

// unfinished returns the result of a run that ended by a panic outside of the function,
// or by runtime.Goexit.
func (b *batch) unfinished(r *run, err error) *Result {
	if b.options.Ledger == nil && r.work == nil {
		return b.undecoded(r, err)
	}
	result := crashed(r.message, err)
	if b.options.PanicAsPermanent && stage(r.stage.Load()) == stageFunction { // its goroutine is gone
		err = demotePanic(r.goroutines.join(err))
		if catchPanic(func() error { result = b.decide(b.jobs, r, err); return nil }) == nil {
			return result
		}
	}
	b.process.poisonBy(result)
	return result
}

// decide returns the final result of a run. An error of middleware is not classified
// before. A Result without an outcome counts as a crash.
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

// waitForStrayGoroutines waits for calls of the function that middleware did not wait
// for, and for goroutines that middleware started with [Go]. A panic in one of them
// becomes the error of the run. An error is logged.
func (b *batch) waitForStrayGoroutines(ctx context.Context, r *run, err error) error {
	if res := AsResult(err); res != nil && res.Outcome == OutcomeCrash {
		return err
	}
	_ = r.calls.join(nil)
	stray := r.goroutines.join(nil)
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

// failedBefore reports whether the job's last run failed because a dependency was down.
// Without a ledger every redelivered message counts as such a job.
func (d *delivery) failedBefore() bool {
	if d.claim == nil {
		return d.message.ReceiveCount() > 1
	}
	attempts := d.job.History.Attempts
	return len(attempts) > 0 && infrastructure[attempts[len(attempts)-1].Reason]
}

// ran handles the end of a run.
func (b *batch) ran(d *delivery, r *run, res *Result) {
	if d.abandoned {
		return
	}
	now := time.Now()
	d.phase, b.times.lastFreed = phaseNone, now
	if r.started() {
		d.took = now.Sub(r.startTime())
	}
	if r.started() && b.jobs.Err() == nil {
		b.process.pace.noteRun(now.Sub(r.launched))
		b.setLastStart(now)
	}
	if r.started() || res.Decision.Reason != fault.ReasonStore {
		b.breaker.note(res, res.Outcome != OutcomeDone && d.failedBefore(), now)
	}
	if res.Outcome == OutcomeCrash {
		b.onCrash(res)
	} else { // else a goroutine that was left behind may read it
		r.message.asReceived(d.record)
	}
	if res.Outcome == OutcomeDone {
		b.queue.Promising(d.index)
	}
	b.markSettling(d, r.started())
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

// setLastStart sets when the last jobs may start. That may have passed: before a run has
// ended, nothing is known of how long others take.
func (b *batch) setLastStart(now time.Time) {
	e := b.process.pace.estimate()
	b.times.lastStart, b.times.lastChance = b.table.LastStart(e.longest), b.table.LastStart(e.shortest)
	b.passLastStart(now.Add(-1)) // what would end just at the reserve is in time
}

// passLastStart tells the run queue that it is too late for more jobs.
func (b *batch) passLastStart(now time.Time) {
	t := &b.times
	if !b.table.Bounded() {
		return
	}
	if !t.late && !now.Before(t.lastStart) {
		t.late = true
		b.queue.Late()
	}
	if !t.hopeless && !now.Before(t.lastChance) {
		t.hopeless = true
		b.queue.Hopeless()
	}
}
