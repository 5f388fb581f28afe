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
		err := call(ctx, func() error { return p.handler.Prepare(ctx, m) })
		if err == nil {
			return next(ctx, m)
		}
		if _, panicked := err.(*PanicError); panicked {
			err = fault.Permanent(err, fault.Reason(ReasonPanic))
		}
		// A payload is no better for the time that is left.
		timeless := context.WithoutCancel(ctx)
		return m.Resolve(timeless, p.refused(timeless, err))
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
	m.started = time.Now()
	err := call(ctx, func() error { return p.handler.Handle(ctx, m) })
	if err == nil {
		return nil
	}
	return m.Resolve(ctx, err)
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
