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

// Chain combines middleware into one. The first is the outermost: it is called first and
// sees the error last. Nil entries are skipped. The returned Middleware panics if one of
// the given middleware returns a nil Func.
func Chain(middleware ...Middleware) Middleware {
	return func(next Func) Func {
		chained, err := chain(middleware, next)
		if err != nil {
			panic(err)
		}
		return chained
	}
}

// chain wraps a Func in middleware. Each run records which middleware it is in.
func chain(middleware []Middleware, next Func) (Func, error) {
	for i, m := range slices.Backward(middleware) {
		if m == nil {
			continue
		}
		wrapped := m(trackLayer(next, i+1))
		if wrapped == nil {
			return nil, fmt.Errorf("handler: middleware %d of %d, %s, returned a nil Func; "+
				"have it return a Func that calls next", i+1, len(middleware), nameOf(m))
		}
		next = wrapped
	}
	return next, nil
}

// trackLayer wraps next so that the run records the middleware that it is in.
func trackLayer(next Func, layer int) Func {
	return func(ctx context.Context, m *Message) error {
		if r := runOf(ctx); r != nil {
			before := r.layer.Swap(int32(layer))
			defer r.layer.Store(before)
		}
		return next(ctx, m)
	}
}

// nameOf returns the name of a middleware's function.
func nameOf(m Middleware) string {
	f := runtime.FuncForPC(reflect.ValueOf(m).Pointer())
	if f == nil {
		return "unknown"
	}
	name := f.Name()
	return name[strings.LastIndexByte(name, '/')+1:]
}

// errLateCall is for middleware that calls next on another goroutine and returns before
// that call.
var errLateCall = errors.New("handler: middleware called next when the run of the message was over; " +
	"call it before the middleware returns")

// errLostContext is for middleware that does not pass on its context.
var errLostContext = errors.New("handler: middleware called next with a context that is not made of its own; " +
	"pass on the context that it was called with")
