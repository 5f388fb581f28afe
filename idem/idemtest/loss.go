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
func (l losing) Settle(ctx context.Context, c idem.Claim, s idem.Settlement) error {
	err := l.lose(func(store idem.Store) error { return store.Settle(ctx, c, s) })
	if err != nil {
		return err
	}
	return l.Store.Settle(ctx, c, s)
}

// Renew asks twice and gives the second answer.
func (l losing) Renew(ctx context.Context, c idem.Claim, until time.Time) error {
	renew := func(s idem.Store) error { return s.(idem.Renewer).Renew(ctx, c, until) }
	if err := l.lose(renew); err != nil {
		return err
	}
	return renew(l.Store)
}

// lose makes a call that is carried out but not answered.
func (l losing) lose(call func(idem.Store) error) error {
	err := call(&Faulty{Store: l.Store, After: func(context.Context, Call) error { return errLost }})
	if errors.Is(err, errLost) {
		return nil
	}
	return err
}
