package handler

import (
	"context"
	"errors"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

// newRun begins the run of a delivery. User code gets the run as its context, made of
// ctx.
func (b *batch) newRun(ctx context.Context, d *delivery) *run {
	r := &d.firstRun
	r.Context, r.message, r.table = ctx, d.message, b.table
	r.jobs, r.options, r.process = b.jobs, &b.options, &b.process
	d.run = r
	return r
}

// decode restores, decodes and validates a message, and finds the key of its job,
// on a goroutine of its own: all of it is user code.
func (b *batch) decode(d *delivery, force bool) {
	ctx := b.jobs
	if force {
		if !d.atWork {
			d.atWork = true
			b.process.beginAnyway()
		}
		ctx = context.WithoutCancel(ctx)
	} else if !b.enter(d, false) {
		return
	}
	r := b.newRun(ctx, d)
	d.phase = phaseDecoding
	b.assign(func() {
		var rejected *Result
		usercall.Catch(
			func() error { rejected = b.prepare(r); return nil },
			func(err error, p *usercall.Panic) {
				if p != nil {
					rejected = b.undecoded(r, asError(err, p))
				}
				b.postEnd(p, func() { b.decoded(d, r, rejected) })
			},
		)
	})
}

// undecoded is the result of a message whose decoding ended without a result: by
// runtime.Goexit, or by a panic of what classifies its error.
func (p *Processor) undecoded(r *run, err error) (rejected *Result) {
	if catchPanic(func() error { rejected = p.rejected(r, err); return nil }) != nil {
		rejected = crashed(r.message, err)
	}
	return rejected
}

// prepare is the decoding itself. A result says that the message was rejected.
func (p *Processor) prepare(r *run) *Result {
	m := r.message
	err := catchPanic(func() error {
		if p.options.Restore != nil {
			p.options.Restore(m)
		}
		work, err := p.handler.Prepare(r, m)
		r.work = work
		return r.crew.join(err)
	})
	r.crew.admit()
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

// rejected is the result of a message that decoding or the key function did not
// accept. An error that no rule knows is permanent, and so is a panic: nothing was
// claimed and no effect begun.
func (p *Processor) rejected(r *run, err error) *Result {
	m := r.message
	timeless := context.WithoutCancel(r)
	if res := AsResult(err); res != nil {
		return p.resolver.complete(timeless, m, m.Job, res.clone())
	}
	// A payload is no better for the time that is left.
	if _, panicked := asPanic(err); panicked {
		err = fault.Permanent(err, fault.Reason(ReasonPanic))
	} else if d := p.options.Classifier.Classify(timeless, err); d.Class == fault.ClassUnclassified &&
		d.Reason != fault.ReasonProgrammerFault {
		err = fault.Permanent(err, fault.Reason(fault.ReasonValidation))
	}
	return p.resolver.resolve(timeless, m, nil, err)
}

// decoded goes on with a message that was decoded.
func (b *batch) decoded(d *delivery, r *run, rejected *Result) {
	if d.left {
		return
	}
	d.phase = phaseNone
	if rejected != nil {
		b.toSettle(d, false)
		b.conclude(d, rejected)
		return
	}
	b.leaveWork(d)
	d.job = Job{Key: r.identity.Key}
	d.message.Job = d.job
	b.queue.Identified(d.index, r.identity.ID)
}

// errNoWork is for a Handler that keeps the work to itself.
var errNoWork = errors.New("handler: Prepare returned neither work nor an error; " +
	"return the function that does the work")
