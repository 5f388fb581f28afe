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

// errLateCall is for middleware that calls next on a goroutine of its own, and is through
// before.
var errLateCall = errors.New("handler: middleware called next when the run of the message was over; " +
	"call it before the middleware returns")

// errLostContext is for middleware that does not pass on its context.
var errLostContext = errors.New("handler: middleware called next with a context that is not made of its own; " +
	"pass on the context that it was called with")
