package fault

import (
	"context"
	"encoding/json"
	"reflect"
)

// payloadRules begin with what the stages before the handler say: a fault inside
// of them is the payload's, whatever is wrapped.
var payloadRules = Table{
	{ID: "payload.decode", Reason: ReasonDecode, Class: ClassPermanent, Match: isType[*DecodeError]()},
	{ID: "payload.validation", Reason: ReasonValidation, Class: ClassPermanent, Match: isType[*ValidationError]()},
	{ID: "json.syntax", Reason: ReasonDecode, Class: ClassPermanent, Match: isType[*json.SyntaxError]()},
	{ID: "json.type", Reason: ReasonDecode, Class: ClassPermanent, Match: isType[*json.UnmarshalTypeError]()},
}

// programmerRules know code that hands a library what it can never use: a later
// attempt does not help, and neither is the job at fault.
var programmerRules = Table{
	{ID: "programmer.json", Reason: ReasonProgrammerFault, Class: ClassUnclassified,
		Match: isType[*json.InvalidUnmarshalError]()},
	{ID: "programmer.validator", Reason: ReasonProgrammerFault, Class: ClassUnclassified,
		Match: isStruct(invalidValidation)},
}

var validationRules = Table{
	{ID: "validator.errors", Reason: ReasonValidation, Class: ClassPermanent, Match: validatorErrors},
}

// invalidValidation knows the error of go-playground/validator for an argument
// that is no struct.
func invalidValidation(v reflect.Value) bool {
	if v.Type().Name() != "InvalidValidationError" {
		return false
	}
	field, ok := v.Type().FieldByName("Type")
	return ok && field.Type == reflect.TypeFor[reflect.Type]()
}

// validatorErrors goes by the name of the type alone, which validators of
// structs and of JSON schemas share.
func validatorErrors(_ context.Context, err error) bool {
	return has(err, func(e error) bool {
		t := reflect.TypeOf(e)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		return t.Name() == "ValidationErrors" || t.Name() == "ValidationError"
	})
}
