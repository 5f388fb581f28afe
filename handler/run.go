package handler

import (
	"cmp"
	"context"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// prepare decodes and validates ahead of everything that costs a round trip.
func (p *Processor) prepare(next Func) Func {
	return func(ctx context.Context, m *Message) error {
		p.decode(ctx, m)
		if m.prepareErr != nil {
			return p.rejected(ctx, m)
		}
		return next(ctx, m)
	}
}

// decode calls Prepare once.
func (p *Processor) decode(ctx context.Context, m *Message) {
	if !m.prepared {
		m.prepared = true
		recovered(p.decoding(ctx, m), func(err error) { m.prepareErr = err })
	}
}

// decodeApart is decode on a goroutine of its own, and tells whether that has
// returned in time.
func (b *batch) decodeApart(ctx context.Context, m *Message) bool {
	m.prepared = true
	done := make(chan error, 1)
	go recovered(b.decoding(ctx, m), func(err error) { done <- err })
	select {
	case m.prepareErr = <-done:
		return true
	case <-b.left:
		return false
	}
}

func (p *Processor) decoding(ctx context.Context, m *Message) func() error {
	return func() error {
		err := m.crew.join(p.handler.Prepare(ctx, m))
		m.crew.admit()
		return err
	}
}

// rejected is the result of a message that Prepare did not accept. A panic there
// is permanent: nothing was claimed and no effect begun.
func (p *Processor) rejected(ctx context.Context, m *Message) *Result {
	err := m.prepareErr
	if _, panicked := asPanic(err); panicked {
		err = fault.Permanent(err, fault.Reason(ReasonPanic))
	}
	// A payload is no better for the time that is left.
	timeless := context.WithoutCancel(ctx)
	return m.Resolve(timeless, p.refused(timeless, err))
}

// refused makes an error of Prepare that no rule knows a permanent one.
func (p *Processor) refused(ctx context.Context, err error) error {
	d := p.options.Classifier.Classify(ctx, err)
	if d.Class == fault.ClassUnclassified && d.Reason != fault.ReasonProgrammerFault {
		return fault.Permanent(err, fault.Reason(fault.ReasonValidation))
	}
	return err
}

// perform is the innermost stage: it runs the user's function and decides what
// its error means where it is caught.
func (p *Processor) perform(ctx context.Context, m *Message) error {
	if reason := m.hindrance(ctx); reason != "" {
		return m.NotRun(ctx, reason, nil)
	}
	m.started = time.Now()
	m.crew.admit()
	err := m.call(func() error { return p.handle(ctx, m) })
	if err == nil {
		return nil
	}
	if p.options.PanicAsPermanent {
		err = harmless(err)
	}
	r := m.Resolve(ctx, err)
	if r.Outcome == OutcomeCrash {
		p.options.Process.distrust(r)
	}
	return r
}

// handle runs the user's function and waits for the goroutines that it has
// started by [Go], but not when its panic is to end the process.
func (p *Processor) handle(ctx context.Context, m *Message) error {
	if !p.options.PanicAsPermanent {
		return m.crew.join(p.handler.Handle(ctx, m))
	}
	var err error
	recovered(
		func() error { return p.handler.Handle(ctx, m) },
		func(e error) { err = e },
	)
	return m.crew.join(err)
}

// call runs user code on a goroutine of its own where the message has a place in
// a batch, as it always has unless middleware made up a message.
func (m *Message) call(f func() error) error {
	if m.seat == nil {
		return f()
	}
	return m.seat.carrier.call(f)
}

// hindrance is why a message that has come as far as its run is not to run. One
// that was claimed before its time waits for that here. The first runs, as no
// other would, however late it is.
func (m *Message) hindrance(ctx context.Context) string {
	s := m.seat
	if s == nil || m.unrunReason != "" {
		return m.unrunReason
	}
	late := cutOff(s.batch.jobs)
	if s.entry.first && late == ReasonNoTime {
		late = ""
	} else if s.entry.scout && s.holds == shareSome {
		reason := s.stepAside(stateClaimed)
		if reason == "" {
			reason = s.take(ctx, shareSome)
		}
		if reason != "" {
			return reason
		}
		late = cutOff(s.batch.jobs)
	}
	return cmp.Or(s.batch.afterCrash(), late)
}

// harmless makes a panic a failure of the job alone.
func harmless(err error) error {
	if _, loose := looseIn(err); loose {
		return fault.Permanent(err, fault.Reason(ReasonPanic))
	}
	return err
}
