package handler

import (
	"fmt"
	"reflect"
)

// nilPointer tells whether err is an interface around a nil pointer. Hardly any
// method of an error can be called on one.
func nilPointer(err error) bool {
	v := reflect.ValueOf(err)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// solid puts an error that says so in the place of a nil pointer. What returned
// it may have meant success or not, so that a person is to look.
func solid(err error) error {
	if nilPointer(err) {
		return fmt.Errorf("a nil %T was returned as an error, which is not equal to nil: "+
			"return a plain nil where all went well, and declare what is returned as error", err)
	}
	return err
}
