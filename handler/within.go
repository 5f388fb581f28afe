package handler

import (
	"context"
	"errors"
	"time"
)

// errGivenUp says that a call did not return when its context had ended.
var errGivenUp = errors.New("the call did not return in time")

// within calls what is not ours, so that neither a panic nor a hang of it costs
// the batch its answer. One that does not heed the end of ctx has late to return.
func within[T any](ctx context.Context, late time.Duration, f func() T) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		var value T
		recovered(
			func() error { value = f(); return nil },
			func(err error) { done <- answer{value, err} },
		)
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(late)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.value, a.err
	case <-timer.C:
		var none T
		return none, errGivenUp
	}
}
