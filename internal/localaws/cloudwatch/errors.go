package cloudwatch

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// QueryCode is the code of an error in the query protocol.
func QueryCode(e *protocol.Error) string { return cmp.Or(e.QueryCode, e.Code) }

// refusal is an error by the names that it has in the service's model and in
// the query protocol, which clients still go by.
func refusal(code, queryCode, format string, args ...any) *protocol.Error {
	return &protocol.Error{Code: code, QueryCode: queryCode, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *protocol.Error {
	return refusal("InvalidParameterValueException", "InvalidParameterValue", format, args...)
}

func combination(format string, args ...any) *protocol.Error {
	return refusal("InvalidParameterCombinationException", "InvalidParameterCombination", format, args...)
}

func missing(parameter string) *protocol.Error {
	return refusal("MissingRequiredParameterException", "MissingParameter", "The parameter %s is required.", parameter)
}

func notFound(code, format string, args ...any) *protocol.Error {
	e := refusal(code, "ResourceNotFound", format, args...)
	e.Status = http.StatusNotFound
	return e
}

// unimplemented refuses a parameter that AWS knows and this emulator does not.
func unimplemented(operation string, parameters map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if parameters[name] {
			return refusal("UnsupportedOperation", "UnsupportedOperation",
				"%s: this emulator for CloudWatch does not implement %s.", operation, name)
		}
	}
	return nil
}
