package handler

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/sqsafe/sqsafe/internal/usercall"
)

// ErrAbandoned is the error of a handler that did not return when its context was
// cancelled. Its goroutine may still run, so the process ends.
var ErrAbandoned = errors.New("handler ignored the cancellation of its context")

// PanicError is the error for a panic of user code.
type PanicError struct {
	// Value is what was passed to panic.
	Value any
	// Stack is the goroutine's stack at the panic.
	Stack string
}

// Error returns the value as text. There is no Unwrap: if an error was passed to panic,
// its meaning no longer counts.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// goexit is the Value of a PanicError after runtime.Goexit.
type goexit struct{}

func (goexit) String() string { return "runtime.Goexit called by the handler" }

// asError returns the error of a call of user code, or a PanicError after a panic.
func asError(err error, p *usercall.Panic) error {
	switch {
	case p == nil:
		return rejectTypedNil(err)
	case p.Goexit:
		return &PanicError{Value: goexit{}, Stack: p.Stack}
	default:
		return &PanicError{Value: p.Value, Stack: p.Stack}
	}
}

// callOnGoroutine calls user code on a new goroutine and waits for it. A panic becomes an
// error. runtime.Goexit in it does not end the caller's goroutine.
func callOnGoroutine(f func()) error {
	p, _, err := usercall.Call(nil, func() error { f(); return nil })
	return asError(err, p)
}

// catchPanic calls user code and returns its error. A panic becomes an error.
func catchPanic(f func() error) (err error) {
	usercall.Catch(f, func(e error, p *usercall.Panic) { err = asError(e, p) })
	return err
}

// uncaughtPanic returns the panic in err, unless a tag wraps it. A tag on another error
// joined to it does not matter.
func uncaughtPanic(err error) (*PanicError, bool) {
	if p, ok := err.(*PanicError); ok {
		return p, true
	}
	if err == nil || tagged(err) {
		return nil, false
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return uncaughtPanic(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, below := range e.Unwrap() {
			if p, ok := uncaughtPanic(below); ok {
				return p, true
			}
		}
	}
	return nil, false
}

// tagged reports whether err itself claims to be permanent or retryable.
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

// isTypedNil reports whether err holds a nil pointer. Most methods of an error panic on
// one.
func isTypedNil(err error) bool {
	v := reflect.ValueOf(err)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// rejectTypedNil replaces a typed-nil error with an error that names its type. It is
// unknown whether success was meant.
func rejectTypedNil(err error) error {
	if isTypedNil(err) {
		return fmt.Errorf("a nil %T was returned as an error, which is not equal to nil: "+
			"return a plain nil where all went well, and declare what is returned as error", err)
	}
	return err
}

// truncate shortens s to at most limit bytes without splitting a character.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}

// text returns the error's text. fmt recovers if the Error method panics, as it may on a
// nil pointer.
func text(err error) string { return fmt.Sprintf("%v", err) }
