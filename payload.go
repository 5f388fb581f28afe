package sqsafe

import "reflect"

// validator is what a payload type has to be checked before it is used.
type validator interface{ Validate() error }

// wantsValidate reports whether T is a struct whose values nobody checks.
func wantsValidate[T any]() bool {
	t := reflect.TypeFor[T]()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.NumField() == 0 {
		return false
	}
	check := reflect.TypeFor[validator]()
	return !t.Implements(check) && !reflect.PointerTo(t).Implements(check)
}

func typeName[T any]() string { return reflect.TypeFor[T]().String() }
