package handler

import (
	"context"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// cut handles deadline.Cut: nothing starts any more, and running jobs are cancelled.
func (b *batch) cut() {
	b.times.cut = true
	b.queue.Cut()
	if at, ok := b.jobs.Deadline(); !ok || time.Now().Before(at) {
		b.cancelJobs() // else it ends by its own deadline
	}
}

// onCrash prepares the end of the process after a crash. Nothing starts any more. Jobs
// that run may go on for deadline.CrashGrace.
func (b *batch) onCrash(r *Result) {
	b.process.poisonBy(r)
	b.queue.Poison()
	if b.crash == nil {
		b.crash = r
		if b.hurry != nil {
			close(b.hurry)
		}
		table := b.table.Crashed(time.Now())
		b.table = &table
	}
}

// abandonDeliveries ends the deliveries with user code that has not returned. A job is
// not blamed if the host cancelled the batch or another job crashed.
func (b *batch) abandonDeliveries() {
	crashed := b.crash != nil
	blames := !b.stopping && !crashed
	for _, d := range b.deliveries {
		if d.phase == phaseNone {
			continue
		}
		r, p := d.run, d.phase
		d.phase, d.abandoned = phaseNone, true
		if stop := r.stop.Load(); stop != nil {
			(*stop)()
		}
		job := d.job
		m := b.received(d)
		m.Job, m.claimed = job, d.claim != nil
		d.message = &m
		// FIFO: what is deleted lets its group go on beside the goroutine that is left behind.
		d.noVerdict = !crashed && d.group == 0 && b.queue.LastReceive(d.index)
		ending := b.abandonedEnding(d, r)
		ending.Blamed = ending.Blamed && blames
		if !b.stopping {
			b.onCrash(&Result{
				Outcome: OutcomeCrash, Decision: fault.Decision{Reason: ReasonAbandoned}, Err: ErrAbandoned, Job: job,
			})
		}
		b.markSettling(d, false)
		if p == phaseDecoding || d.claim == nil {
			b.conclude(d, ending.Result)
			continue
		}
		b.settle(d, func(context.Context) Ending { return ending })
	}
}

// abandonedEnding returns the ending of a run that has not returned. The job is blamed if
// its function had enough time. If the job has crashed before, the next crash makes it
// dead, so enough is most of the time. Otherwise two late starts would dead-letter a job
// that only takes long.
func (b *batch) abandonedEnding(d *delivery, r *run) Ending {
	res := &Result{
		Outcome: OutcomeCrash, Decision: fault.Decision{Reason: ReasonAbandoned}, Err: ErrAbandoned, Job: d.job,
	}
	e := Ending{Result: res, Started: r.started(), Alone: d.alone, Running: true}
	res.Until = d.claimEnd()
	switch stage(r.stage.Load()) {
	case stageReturned:
		res.Outcome, res.Decision.Reason = OutcomeUnrecorded, ReasonMiddleware
		res.Err = fmt.Errorf("middleware %s did not return after the function had", b.layerName(r))
	case stageFunction:
		ran := time.Since(r.startTime())
		e.Blamed = b.table.HadItsTime(ran) && (d.job.Crashes == 0 || b.table.HadMostOfItsTime(ran))
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

// layerName returns the name of the middleware that the run is in.
func (b *batch) layerName(r *run) string {
	// Layer n is the middleware at n, or the first behind it that is not nil.
	for _, m := range b.options.Middleware[min(int(r.layer.Load()), len(b.options.Middleware)):] {
		if m != nil {
			return nameOf(m)
		}
	}
	return "unknown"
}
