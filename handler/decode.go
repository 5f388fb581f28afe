package handler

import (
	"context"
	"errors"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

// newRun sets the run of a delivery. The run is the context of its user code; ctx is its
// parent.
func (b *batch) newRun(ctx context.Context, d *delivery) *run {
	r := &d.firstRun
	if d.run != nil { // goroutines of its user code may have it still
		r = new(run)
	}
	r.Context, r.message, r.table = ctx, d.message, b.table
	r.jobs, r.options, r.process = b.jobs, &b.options, &b.process
	d.run = r
	return r
}

// decode restores, decodes and validates a message and finds the key of its job. All of
// this is user code, so it runs on a worker.
func (b *batch) decode(d *delivery, force bool) {
	ctx, cancel := b.jobs, context.CancelFunc(func() {})
	if force {
		if !d.active {
			d.active = true
			b.process.forceBegin()
		}
		ctx, cancel = b.verdictContext()
	} else if !b.enterProcess(d, false) {
		return
	}
	r := b.newRun(ctx, d)
	d.phase = phaseDecoding
	b.assign(func() (end event) {
		defer cancel()
		var rejected *Result
		usercall.Catch(
			func() error { rejected = b.prepare(r); return nil },
			func(err error, p *usercall.Panic) {
				if p != nil {
					rejected = b.undecoded(r, asError(err, p))
				}
				end = b.endOf(p, func() { b.decoded(d, r, rejected) })
			},
		)
		return end
	})
}

// verdictContext returns a context for decoding after deadline.Cut. It ends halfway to
// deadline.Leave, so that user code which heeds it is not left behind.
func (b *batch) verdictContext() (context.Context, context.CancelFunc) {
	left := time.Until(b.table.At(deadline.Leave))
	return context.WithTimeout(context.WithoutCancel(b.jobs), left/2)
}

// undecoded returns the result of a message if decoding ended by runtime.Goexit, or if
// the classifier panicked.
func (p *Processor) undecoded(r *run, err error) (rejected *Result) {
	if catchPanic(func() error { rejected = p.rejected(r, err); return nil }) != nil {
		rejected = crashed(r.message, err)
	}
	return rejected
}

// prepare does the decoding. It returns nil if the message was accepted, or the result of
// a rejected one.
func (p *Processor) prepare(r *run) *Result {
	m := r.message
	err := catchPanic(func() error {
		if p.options.Restore != nil {
			p.options.Restore(m)
		}
		work, err := p.handler.Prepare(r, m)
		r.work = work
		return r.goroutines.join(err)
	})
	r.goroutines.reopen()
	if err == nil && r.work == nil {
		err = errNoWork
	}
	if err != nil {
		return p.rejected(r, err)
	}
	if p.options.Ledger == nil {
		return nil
	}
	err = catchPanic(func() error {
		var err error
		r.identity, err = p.options.Ledger.Identify(r, m)
		return err
	})
	if err != nil {
		return p.rejected(r, err)
	}
	return nil
}

// rejected returns the result of a message that decoding or the key function rejected. A
// panic is permanent, and so is an error that no rule knows: nothing was claimed and no
// effect has begun.
func (p *Processor) rejected(r *run, err error) *Result {
	m := r.message
	timeless := context.WithoutCancel(r)
	if res := AsResult(err); res != nil {
		res = p.resolver.complete(timeless, m, m.Job, res.clone())
		return p.resolver.lastWord(timeless, m, nil, res)
	}
	// The time that is left does not change whether a payload is valid.
	if _, panicked := asPanic(err); panicked {
		err = fault.Permanent(err, fault.WithReason(ReasonPanic))
	} else if d := p.options.Classifier.Classify(timeless, err); d.Class == fault.ClassUnclassified &&
		d.Reason != fault.ReasonProgrammerFault {
		err = fault.Permanent(err, fault.WithReason(fault.ReasonValidation))
	}
	return p.resolver.resolve(timeless, m, nil, err)
}

// decoded handles the end of decoding.
func (b *batch) decoded(d *delivery, r *run, rejected *Result) {
	if d.abandoned {
		return
	}
	d.phase = phaseNone
	if rejected != nil && b.inTurn(d) {
		b.markSettling(d, false)
		b.conclude(d, rejected)
		return
	}
	b.leaveProcess(d)
	if rejected != nil { // user code has it again, as it was received
		m := b.received(d)
		d.message = &m
		b.queue.Postponed(d.index)
		return
	}
	d.job = Job{Key: r.identity.Key}
	d.message.Job = d.job
	b.queue.Identified(d.index, r.identity.ID)
}

// errNoWork is the error for a Handler that returns no work.
var errNoWork = errors.New("handler: Prepare returned neither work nor an error; " +
	"return the function that does the work")
