package dynamodb

import (
	"fmt"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

func badParameter(format string, args ...any) error {
	return attribute.Invalidf("One or more parameter values were invalid: "+format, args...)
}

func tableNotFound() error {
	return &protocol.Error{Code: "ResourceNotFoundException", Message: "Requested resource not found"}
}

func namedTableNotFound(name string) error {
	return &protocol.Error{
		Code:    "ResourceNotFoundException",
		Message: fmt.Sprintf("Requested resource not found: Table: %s not found", name),
	}
}

// conditionFailed refuses a conditional write; item is what was asked to come with
// it, or nil.
func conditionFailed(item attribute.Item) *protocol.Error {
	e := &protocol.Error{Code: "ConditionalCheckFailedException", Message: "The conditional request failed"}
	if item != nil {
		e.Fields = map[string]any{"Item": item}
	}
	return e
}
