package fault

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// maxTypes bounds what Types lists.
const maxTypes = 16

// unwrap gives the errors directly below err: one for a plain wrapper, several
// for a join.
func unwrap(err error) []error {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if below := e.Unwrap(); below != nil {
			return []error{below}
		}
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	}
	return nil
}

// chain walks err and everything below it, outermost first, each branch of a
// join to its end.
func chain(err error) iter.Seq[error] {
	return func(yield func(error) bool) { walk(err, yield) }
}

func walk(err error, yield func(error) bool) bool {
	if err == nil {
		return true
	}
	if !yield(err) {
		return false
	}
	for _, below := range unwrap(err) {
		if !walk(below, yield) {
			return false
		}
	}
	return true
}

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

// Types lists the types of the errors in the chain, outermost first and the
// branches of a join one after the other, at most 16. Tags are left out, as is
// what only adds text (fmt.Errorf with %w) or only joins.
func Types(err error) []string {
	var types []string
	for e := range chain(err) {
		if len(types) == maxTypes {
			break
		}
		if _, ok := e.(*tag); ok {
			continue
		}
		switch name := fmt.Sprintf("%T", e); name {
		case "*fmt.wrapError", "*fmt.wrapErrors", "*errors.joinError":
		default:
			types = append(types, name)
		}
	}
	return types
}
