package idemtest

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

// Call names a call of a store: "acquire", "renew", "step", or the kind of a
// settlement.
type Call string

const (
	// CallAcquire is the call that claims.
	CallAcquire Call = "acquire"
	// CallRenew is the call that renews a claim.
	CallRenew Call = "renew"
	// CallStep is the call that records a step.
	CallStep Call = "step"
)

// Faulty is a store whose calls fail as told. It is as safe for concurrent use
// as its functions are.
type Faulty struct {
	idem.Store
	// Before is asked ahead of each call; its error keeps the call from being
	// made. Nil lets all through.
	Before func(ctx context.Context, call Call) error
	// After is asked behind each call; its error stands in the place of an
	// answer that was lost. Nil loses none.
	After func(ctx context.Context, call Call) error
}

// Acquire implements [idem.Store].
func (f *Faulty) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	var answer idem.Answer
	err := f.call(ctx, CallAcquire, func() (err error) {
		answer, err = f.Store.Acquire(ctx, r)
		return err
	})
	if err != nil {
		return idem.Answer{}, err
	}
	return answer, nil
}

// Settle implements [idem.Store].
func (f *Faulty) Settle(ctx context.Context, c idem.Claim, s idem.Settlement) error {
	return f.call(ctx, Call(s.Kind.String()), func() error { return f.Store.Settle(ctx, c, s) })
}

// Renew implements [idem.Store].
func (f *Faulty) Renew(ctx context.Context, c idem.Claim, until time.Time) error {
	return f.call(ctx, CallRenew, func() error { return f.Store.Renew(ctx, c, until) })
}

// RecordStep implements [idem.Store].
func (f *Faulty) RecordStep(ctx context.Context, c idem.Claim, s idem.StepRecord) error {
	return f.call(ctx, CallStep, func() error { return f.Store.RecordStep(ctx, c, s) })
}

func (f *Faulty) call(ctx context.Context, call Call, made func() error) error {
	if f.Before != nil {
		if err := f.Before(ctx, call); err != nil {
			return err
		}
	}
	err := made()
	if err == nil && f.After != nil {
		err = f.After(ctx, call)
	}
	return err
}
