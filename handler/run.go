package handler

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// prepare decodes and validates ahead of everything that costs a round trip. A
// panic here is permanent: nothing was claimed and no effect begun.
func (p *Processor) prepare(next Func) Func {
	return func(ctx context.Context, m *Message) error {
		var err error
		recovered(func() error { return p.handler.Prepare(ctx, m) }, func(e error) { err = e })
		if err == nil {
			return next(ctx, m)
		}
		if _, panicked := err.(*PanicError); panicked {
			return fault.Permanent(err, fault.Reason(ReasonPanic))
		}
		// A payload is no better for the time that is left.
		ctx = context.WithoutCancel(ctx)
		if d := p.options.Classifier.Classify(ctx, err); d.Class == fault.ClassUnclassified {
			err = fault.Permanent(err, fault.Reason(fault.ReasonValidation))
		}
		return m.Resolve(ctx, err)
	}
}

// perform is the innermost stage: it runs the user's function on a goroutine of
// its own, so that one that ignores its context can be left behind, and
// decides what its error means where it is caught.
func (p *Processor) perform(ctx context.Context, m *Message) error {
	m.started = time.Now()
	done := make(chan error, 1)
	go recovered(func() error { return p.handler.Handle(ctx, m) }, func(err error) { done <- err })
	err := await(ctx, done)
	if err == nil {
		return nil
	}
	return m.Resolve(ctx, err)
}

func await(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	inv, ok := ctx.Value(invocationKey{}).(*invocation)
	if !ok || !inv.bounded() || ctx.Err() != context.DeadlineExceeded {
		return <-done
	}
	timer := time.NewTimer(inv.grace())
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return ErrAbandoned
	}
}
