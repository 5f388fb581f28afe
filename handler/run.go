package handler

import (
	"context"
	"errors"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// prepare decodes and validates ahead of everything that costs a round trip. A
// panic here is permanent: nothing was claimed and no effect begun.
func (p *Processor) prepare(next Func) Func {
	return func(ctx context.Context, m *Message) error {
		p.decode(ctx, m)
		if m.prepareErr == nil {
			return next(ctx, m)
		}
		err := m.prepareErr
		if _, panicked := err.(*PanicError); panicked {
			err = fault.Permanent(err, fault.Reason(ReasonPanic))
		}
		// A payload is no better for the time that is left.
		timeless := context.WithoutCancel(ctx)
		return m.Resolve(timeless, p.refused(timeless, err))
	}
}

// decode calls Prepare once.
func (p *Processor) decode(ctx context.Context, m *Message) {
	if !m.prepared {
		m.prepared = true
		m.prepareErr = call(ctx, func() error { return p.handler.Prepare(ctx, m) })
	}
}

// refused makes an error of Prepare that no rule knows a permanent one.
func (p *Processor) refused(ctx context.Context, err error) error {
	if errors.Is(err, ErrAbandoned) {
		return err
	}
	if d := p.options.Classifier.Classify(ctx, err); d.Class == fault.ClassUnclassified {
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
	err := call(ctx, func() error {
		err := p.handler.Handle(ctx, m)
		return m.crew.join(err)
	})
	if err == nil {
		return nil
	}
	if p.options.PanicAsPermanent {
		err = harmless(err)
	}
	return m.Resolve(ctx, err)
}

// hindrance is why a message that has come as far as its run is not to run. One
// that was claimed before its time waits for that here.
func (m *Message) hindrance(ctx context.Context) string {
	if s := m.seat; s != nil {
		if s.entry.scout && s.holds == shareSome {
			if reason := s.stepAside(stateClaimed); reason != "" {
				return reason
			}
			if s.take(ctx, shareSome) != nil {
				return cutOff(ctx)
			}
		}
		if s.batch.stopped() {
			return ReasonAfterCrash
		}
	}
	return m.unrunReason
}

// harmless makes a panic a failure of the job alone.
func harmless(err error) error {
	if _, panicked := asPanic(err); panicked && !fault.Tagged(err) {
		return fault.Permanent(err, fault.Reason(ReasonPanic))
	}
	return err
}

// call runs user code on a goroutine of its own, so that code which ends its
// goroutine ends no other, and code that ignores its context can be left behind.
func call(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go recovered(f, func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	inv, ok := ctx.Value(invocationKey{}).(*invocation)
	if !ok || !inv.bounded() {
		return <-done
	}
	// The context may have ended earlier than the invocation's time for messages.
	timer := time.NewTimer(time.Until(inv.cut()) + inv.grace())
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return ErrAbandoned
	}
}
