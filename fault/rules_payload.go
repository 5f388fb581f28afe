package fault

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
)

// payloadRules begin with the errors of the stages before the handler: an error
// inside of them is the payload's fault, whatever it wraps.
var payloadRules = Table{
	{ID: "payload.decode", Reason: ReasonDecode, Class: ClassPermanent, Match: isType[*DecodeError]()},
	{ID: "payload.validation", Reason: ReasonValidation, Class: ClassPermanent, Match: isType[*ValidationError]()},
	{ID: "json.syntax", Reason: ReasonDecode, Class: ClassPermanent, Match: outsideResponses[*json.SyntaxError]},
	{ID: "json.type", Reason: ReasonDecode, Class: ClassPermanent, Match: outsideResponses[*json.UnmarshalTypeError]},
}

// outsideResponses matches an error of type T that is not inside the error of a response:
// an SDK that cannot decode the answer of a service, such as the HTML of a proxy with
// status 503, says nothing of the payload.
func outsideResponses[T error](ctx context.Context, err error) bool {
	_, ok := err.(T)
	_, response := err.(interface{ HTTPStatusCode() int })
	switch e := err.(type) {
	case nil:
		return false
	case interface{ Unwrap() error }:
		return ok || !response && outsideResponses[T](ctx, e.Unwrap())
	case interface{ Unwrap() []error }:
		return ok || !response && slices.ContainsFunc(e.Unwrap(), func(below error) bool {
			return outsideResponses[T](ctx, below)
		})
	}
	return ok
}

// programmerRules match code that passes a value to a library which can never
// accept it: a later attempt does not help, and the job is not at fault either.
var programmerRules = Table{
	{ID: "programmer.json", Reason: ReasonProgrammerFault, Class: ClassUnclassified,
		Match: isType[*json.InvalidUnmarshalError]()},
	{ID: "programmer.validator", Reason: ReasonProgrammerFault, Class: ClassUnclassified,
		Match: isStruct(invalidValidation)},
}

var validationRules = Table{
	{ID: "validator.errors", Reason: ReasonValidation, Class: ClassPermanent, Match: validatorErrors},
}

// invalidValidation matches the error of go-playground/validator for an
// argument that is not a struct.
func invalidValidation(v reflect.Value) bool {
	if v.Type().Name() != "InvalidValidationError" {
		return false
	}
	field, ok := v.Type().FieldByName("Type")
	return ok && field.Type == reflect.TypeFor[reflect.Type]()
}

// validatorErrors matches by the name of the type alone. Validators of structs
// and of JSON schemas both use it.
func validatorErrors(_ context.Context, err error) bool {
	return has(err, func(e error) bool {
		t := reflect.TypeOf(e)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		return t.Name() == "ValidationErrors" || t.Name() == "ValidationError"
	})
}
