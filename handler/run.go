package handler

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

// stage is how far a run has come.
type stage int32

const (
	// stageMiddleware has not come to the user's function yet.
	stageMiddleware stage = iota
	// stageFunction is in it, or in goroutines that it started by Go.
	stageFunction
	// stageReturned has left it.
	stageReturned
)

// run is the way of one delivery through user code: its decoding, and then
// middleware and function. Its goroutine may be left behind, so the loop reads of it
// only what is atomic until it has come back.
type run struct {
	context.Context

	batch    *batch
	delivery *delivery
	message  *Message
	identity Identity
	work     func(context.Context) error
	crew     crew
	// table is that of the batch when it began to be prepared.
	table deadline.Table

	stage atomic.Int32
	// layer is the middleware that it is in, from 1; 0 before the first.
	layer atomic.Int32
	// began is when the function was called, in Unix nanoseconds; 0 if it was not.
	began atomic.Int64

	// launched is when its goroutine was started.
	launched time.Time
	// stop ends the run's steps and its context; nil before the claim has made it.
	stop atomic.Pointer[func()]
	// panicked reports a panic of the function or of its goroutines, as opposed to one
	// of middleware.
	panicked bool
	// uncounted is why the run was not to be, since its crash could not be counted.
	uncounted error
}

// newRun begins the run of a delivery. User code gets the run as its context, made of
// ctx.
func (b *batch) newRun(ctx context.Context, d *delivery) *run {
	r := &d.firstRun
	r.Context, r.batch, r.delivery, r.message, r.table = ctx, b, d, d.message, b.table
	d.run = r
	return r
}

func (r *run) started() bool { return r.began.Load() != 0 }

func (r *run) startTime() time.Time {
	if at := r.began.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

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
	r.launched = time.Now()
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
		if err := b.count(ctx, r.delivery); err != nil {
			r.uncounted = err
			return b.notCounted(r.message, err)
		}
	}
	job, stop := ctx, func() {}
	if claim := r.delivery.claim; claim != nil {
		job, stop = claim.Run(ctx)
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

// call is the innermost stage: it calls the user's function, and classifies its
// error where it is caught.
func (p *Processor) call(ctx context.Context, m *Message) error {
	r := runOf(ctx)
	if r == nil {
		return errLostContext
	}
	if reason := r.blockedBy(); reason != "" {
		return p.resolver.deferred(r.message, reason, nil)
	}
	if !r.started() {
		r.began.Store(time.Now().UnixNano())
	}
	r.stage.Store(int32(stageFunction))
	r.crew.admit()
	var err error
	usercall.Catch(
		func() error { return r.work(ctx) },
		func(e error, panicked *usercall.Panic) {
			err, r.panicked = asError(e, panicked), panicked != nil
		},
	)
	if !r.panicked || p.options.PanicAsPermanent {
		err = r.crew.join(err) // a panic that ends the process waits for nobody
	}
	r.stage.Store(int32(stageReturned))
	if err == nil {
		return nil
	}
	if p.options.PanicAsPermanent {
		err = demotePanic(err)
	}
	res := p.resolver.resolve(ctx, r.message, r, err)
	if res.Outcome == OutcomeCrash {
		r.panicked = true
		p.process.poisonBy(res)
	}
	return res
}

// blockedBy is why a run may not start its function although it came so far; empty
// if it may.
func (r *run) blockedBy() string {
	b := r.batch
	if reason := cmp.Or(b.afterCrash(), endReason(b.jobs)); reason != "" {
		return reason
	}
	if c := r.delivery.claim; c != nil {
		if lease := c.Lease(); !lease.IsZero() && !time.Now().Before(lease) {
			return ReasonNoTime
		}
	}
	return ""
}

// afterCrash is the reason of what does not start since the process is to end.
func (b *batch) afterCrash() string {
	if b.process.poisoned() != nil {
		return ReasonAfterCrash
	}
	return ""
}

// demotePanic makes a panic a failure of the job alone.
func demotePanic(err error) error {
	if _, uncaught := uncaughtPanic(err); uncaught {
		return fault.Permanent(err, fault.Reason(ReasonPanic))
	}
	return err
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
		Blamed: res.Outcome == OutcomeCrash && r.panicked,
	}
	b.settle(d, func(context.Context) Ending { return ending })
}

// leaveBehind ends the deliveries whose user code has not returned.
func (b *batch) leaveBehind() {
	for _, d := range b.deliveries {
		if d.phase == phaseNone {
			continue
		}
		r, p := d.run, d.phase
		d.phase, d.left = phaseNone, true
		if stop := r.stop.Load(); stop != nil {
			(*stop)()
		}
		job := d.job
		d.message = &Message{SQSMessage: *d.record, Job: job, resolver: b.resolver, received: b.start}
		ending := b.leftBehind(d, r)
		if !b.stopping {
			b.onCrash(&Result{
				Outcome: OutcomeCrash, Decision: fault.Decision{Reason: ReasonAbandoned}, Err: ErrAbandoned, Job: job,
			})
		}
		b.toSettle(d, false)
		if p == phaseDecoding || d.claim == nil {
			b.conclude(d, ending.Result)
			continue
		}
		b.settle(d, func(context.Context) Ending { return ending })
	}
}

// leftBehind is the ending of a run whose goroutine has not come back. It is blamed
// if the function had its time, and not where the host stops.
func (b *batch) leftBehind(d *delivery, r *run) Ending {
	res := &Result{
		Outcome: OutcomeCrash, Decision: fault.Decision{Reason: ReasonAbandoned}, Err: ErrAbandoned, Job: d.job,
	}
	e := Ending{Result: res, Started: r.started(), Alone: d.alone, Running: true}
	if d.claim != nil {
		res.Until = d.claim.Lease()
	}
	switch stage(r.stage.Load()) {
	case stageReturned:
		res.Outcome, res.Decision.Reason = OutcomeUnrecorded, ReasonMiddleware
		res.Err = fmt.Errorf("middleware %s did not return after the function had", b.layerName(r))
	case stageFunction:
		e.Blamed = !b.stopping && b.table.HadItsTime(time.Since(r.startTime()))
	default:
		if layer := r.layer.Load(); layer > 0 || d.claim != nil {
			res.Err = fmt.Errorf("%w: middleware %s did not call the function", ErrAbandoned, b.layerName(r))
		}
	}
	if b.stopping && res.Outcome == OutcomeCrash {
		res.Outcome, res.Decision.Reason = OutcomeDeferred, ReasonCancelled
	}
	b.resolver.setDelay(d.message, res)
	return e
}

// layerName names the middleware that a run is in.
func (b *batch) layerName(r *run) string {
	// Layer n is the middleware at n, or the first behind it that is not nil.
	for _, m := range b.options.Middleware[min(int(r.layer.Load()), len(b.options.Middleware)):] {
		if m != nil {
			return nameOf(m)
		}
	}
	return "unknown"
}
