package handler

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrAbandoned is the error of a handler that did not return when its context
// was cancelled. Its goroutine may still run, so the process ends.
var ErrAbandoned = errors.New("handler ignored the cancellation of its context")

// PanicError is a panic of user code.
type PanicError struct {
	// Value is what was passed to panic.
	Value any
	// Stack is the goroutine's stack at the panic.
	Stack string
}

// Error gives the value as text. There is no Unwrap: what an error means that was
// panicked with is no longer the question.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// recovered calls f and turns its panic, or its end by runtime.Goexit, into a
// PanicError. After Goexit the caller must be on another goroutine than f.
func recovered(f func() error, report func(error)) {
	returned := false
	var err error
	defer func() {
		if returned {
			report(err)
			return
		}
		value := recover()
		if value == nil {
			value = goexit{}
		}
		report(&PanicError{Value: value, Stack: string(debug.Stack())})
	}()
	err = f()
	returned = true
}

// goexit is the value of a PanicError that was none.
type goexit struct{}

func (goexit) String() string { return "runtime.Goexit called by the handler" }

// wasEnded tells whether err says that the goroutine which reports it ends.
func wasEnded(err error) bool {
	p, ok := err.(*PanicError)
	return ok && p.Value == goexit{}
}

// looseIn finds a panic in err that no tag is wrapped around: a tag beside it, on
// what else went wrong, does not make up for it.
func looseIn(err error) (*PanicError, bool) {
	if p, ok := err.(*PanicError); ok {
		return p, true
	}
	if err == nil || tagged(err) {
		return nil, false
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return looseIn(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, below := range e.Unwrap() {
			if p, ok := looseIn(below); ok {
				return p, true
			}
		}
	}
	return nil, false
}

// tagged tells whether err itself claims to be permanent or retryable.
func tagged(err error) bool {
	p, isPermanent := err.(interface{ Permanent() bool })
	r, isRetryable := err.(interface{ Retryable() bool })
	return isPermanent && p.Permanent() || isRetryable && r.Retryable()
}

func asPanic(err error) (*PanicError, bool) {
	var p *PanicError
	ok := errors.As(err, &p)
	return p, ok
}
