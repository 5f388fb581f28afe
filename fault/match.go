package fault

import (
	"context"
	"errors"
	"reflect"
	"slices"
)

// has reports whether the chain has an error of type T that accept accepts.
// Unlike errors.As it does not stop at the first T: between the branches of a
// join, the order of the rules decides, not the order of the branches.
func has[T any](err error, accept func(T) bool) bool {
	return !walk(err, func(e error) bool {
		t, ok := e.(T)
		return !ok || !accept(t)
	})
}

// isAny returns a match for errors that are one of the targets.
func isAny(targets ...error) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
}

// anyOf returns a match for errors that at least one of the matches accepts.
func anyOf(matches ...func(context.Context, error) bool) func(context.Context, error) bool {
	return func(ctx context.Context, err error) bool {
		return slices.ContainsFunc(matches, func(match func(context.Context, error) bool) bool {
			return match(ctx, err)
		})
	}
}

// isType returns a match for errors with a T in their chain.
func isType[T error]() func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		_, ok := errors.AsType[T](err)
		return ok
	}
}

// isStruct returns a match for errors with a struct in their chain that accept
// accepts. It is for types of packages that this one does not import.
func isStruct(accept func(reflect.Value) bool) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		return has(err, func(e error) bool {
			v, ok := structOf(e)
			return ok && accept(v)
		})
	}
}

// structOf returns the struct that err is or points to.
func structOf(err error) (reflect.Value, bool) {
	v := reflect.ValueOf(err)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v, v.Kind() == reflect.Struct
}

// field returns a field of the struct, if it exists and can be read.
func field(v reflect.Value, name string) (reflect.Value, bool) {
	declared, ok := v.Type().FieldByName(name)
	if !ok {
		return reflect.Value{}, false
	}
	f, err := v.FieldByIndexErr(declared.Index)
	return f, err == nil && f.CanInterface()
}
