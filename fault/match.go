package fault

import (
	"context"
	"errors"
	"slices"
)

// has tells whether any error of the chain is a T that the test accepts.
// Unlike errors.As it goes on behind the first T: the order of the table
// decides between the branches of a join, not the order of the branches.
func has[T any](err error, accept func(T) bool) bool {
	for e := range chain(err) {
		if t, ok := e.(T); ok && accept(t) {
			return true
		}
	}
	return false
}

// isAny gives a match for errors that are one of the targets.
func isAny(targets ...error) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
}

// isType gives a match for errors with a T in their chain.
func isType[T error]() func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		_, ok := errors.AsType[T](err)
		return ok
	}
}
