package idemtest

import (
	"context"
	"errors"
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

var errLost = errors.New("connection reset by peer")

// losing is a store whose answers are lost, and whose caller then repeats the
// call, as the clients of stores do. It must act as if nothing had been lost.
type losing struct{ idem.Store }

// Acquire asks twice and gives the second answer.
func (l losing) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	err := l.lose(func(s idem.Store) error {
		_, err := s.Acquire(ctx, r)
		return err
	})
	if err != nil {
		return idem.Answer{}, err
	}
	return l.Store.Acquire(ctx, r)
}

// Settle writes twice and gives the second answer.
func (l losing) Settle(ctx context.Context, c idem.Claim, settlement idem.Settlement) error {
	return l.repeat(func(s idem.Store) error { return s.Settle(ctx, c, settlement) })
}

// Renew asks twice and gives the second answer.
func (l losing) Renew(ctx context.Context, c idem.Claim, until time.Time) error {
	return l.repeat(func(s idem.Store) error { return s.Renew(ctx, c, until) })
}

// RecordStep writes twice and gives the second answer.
func (l losing) RecordStep(ctx context.Context, c idem.Claim, step idem.StepRecord) error {
	return l.repeat(func(s idem.Store) error { return s.RecordStep(ctx, c, step) })
}

// repeat makes a call whose answer is lost, and then makes it again.
func (l losing) repeat(call func(idem.Store) error) error {
	if err := l.lose(call); err != nil {
		return err
	}
	return call(l.Store)
}

// lose makes a call that is carried out but not answered.
func (l losing) lose(call func(idem.Store) error) error {
	err := call(&Faulty{Store: l.Store, After: func(context.Context, Call) error { return errLost }})
	if errors.Is(err, errLost) {
		return nil
	}
	return err
}
