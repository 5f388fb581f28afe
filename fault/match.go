package fault

import (
	"context"
	"errors"
	"reflect"
	"slices"
)

// has tells whether any error of the chain is a T that the test accepts.
// Unlike errors.As it goes on behind the first T: the order of the table
// decides between the branches of a join, not the order of the branches.
func has[T any](err error, accept func(T) bool) bool {
	return !walk(err, func(e error) bool {
		t, ok := e.(T)
		return !ok || !accept(t)
	})
}

// isAny gives a match for errors that are one of the targets.
func isAny(targets ...error) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
}

// anyOf gives a match for what one of the matches knows.
func anyOf(matches ...func(context.Context, error) bool) func(context.Context, error) bool {
	return func(ctx context.Context, err error) bool {
		return slices.ContainsFunc(matches, func(match func(context.Context, error) bool) bool {
			return match(ctx, err)
		})
	}
}

// isType gives a match for errors with a T in their chain.
func isType[T error]() func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		_, ok := errors.AsType[T](err)
		return ok
	}
}

// isStruct gives a match for errors with a struct in their chain that the test
// accepts. It is for types of packages that this one does not import.
func isStruct(accept func(reflect.Value) bool) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		return has(err, func(e error) bool {
			v, ok := structOf(e)
			return ok && accept(v)
		})
	}
}

// structOf gives the struct that err is or points to.
func structOf(err error) (reflect.Value, bool) {
	v := reflect.ValueOf(err)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v, v.Kind() == reflect.Struct
}

// field gives a field of the struct that can be read.
func field(v reflect.Value, name string) (reflect.Value, bool) {
	declared, ok := v.Type().FieldByName(name)
	if !ok {
		return reflect.Value{}, false
	}
	f, err := v.FieldByIndexErr(declared.Index)
	return f, err == nil && f.CanInterface()
}
