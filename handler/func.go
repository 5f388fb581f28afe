package handler

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// Func handles one message. A nil error says that the job is done; any other is
// classified and becomes a [Result]. A Func must be safe for concurrent use.
type Func func(ctx context.Context, m *Message) error

// Prepare accepts every message.
func (f Func) Prepare(_ context.Context, m *Message) (func(context.Context) error, error) {
	return func(ctx context.Context) error { return f(ctx, m) }, nil
}

// Handler makes the work of a message. [Func] and the value that [JSON] returns
// are Handlers. It must be safe for concurrent use.
type Handler interface {
	// Prepare decodes and validates the message, before anything is claimed for
	// it, and returns the work, which runs at most once. An error is permanent,
	// unless a rule of the classifier says that it is retryable.
	Prepare(ctx context.Context, m *Message) (work func(ctx context.Context) error, err error)
}

// Middleware wraps the run of a job: after decoding and after the claim, and
// before the outcome is written. The error of the user's function reaches it
// classified, as a [Result]. It must pass on its context, or one made of it.
//
// Middleware that returns nil without having called next gives the message up: it
// is acknowledged and counted as dropped. To leave a message to a later receive it
// returns [Defer].
type Middleware func(next Func) Func

// Chain joins middleware into one. The first is the outermost: it sees the message
// first and the error last. Nil entries are skipped. Chain panics when it is put
// around a Func if a middleware returns a nil Func.
func Chain(middleware ...Middleware) Middleware {
	return func(next Func) Func {
		chained, err := chain(middleware, next)
		if err != nil {
			panic(err)
		}
		return chained
	}
}

// chain puts middleware around a Func. Each run notes which of them it is in.
func chain(middleware []Middleware, next Func) (Func, error) {
	for i, m := range slices.Backward(middleware) {
		if m == nil {
			continue
		}
		wrapped := m(entering(next, i+1))
		if wrapped == nil {
			return nil, fmt.Errorf("handler: middleware %d of %d, %s, returned a nil Func; "+
				"have it return a Func that calls next", i+1, len(middleware), nameOf(m))
		}
		next = wrapped
	}
	return next, nil
}

// entering notes that a run leaves one layer of middleware for the next, and that
// it comes back.
func entering(next Func, layer int) Func {
	return func(ctx context.Context, m *Message) error {
		if r := runOf(ctx); r != nil {
			before := r.layer.Swap(int32(layer))
			defer r.layer.Store(before)
		}
		return next(ctx, m)
	}
}

// nameOf is the name of the function that a middleware is.
func nameOf(m Middleware) string {
	f := runtime.FuncForPC(reflect.ValueOf(m).Pointer())
	if f == nil {
		return "unknown"
	}
	name := f.Name()
	return name[strings.LastIndexByte(name, '/')+1:]
}

// errLostContext is for middleware that does not pass on its context.
var errLostContext = errors.New("handler: middleware called next with a context that is not made of its own; " +
	"pass on the context that it was called with")
