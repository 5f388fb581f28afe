package dynamodb

import (
	"fmt"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// ServiceErrors is the namespace of the errors that AWS's services share. Their
// bodies have the member Message, where others have message.
const ServiceErrors = "com.amazon.coral.service"

// CommonErrors are the errors that are not in the namespace of DynamoDB, by
// their code.
var CommonErrors = map[string]string{
	"ValidationException":       "com.amazon.coral.validate",
	"SerializationException":    ServiceErrors,
	"UnknownOperationException": ServiceErrors,
	"AccessDeniedException":     ServiceErrors,
}

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

func tableMissing(name string) error {
	return &protocol.Error{Code: "TableNotFoundException", Message: "Table not found: " + name}
}

// conditionFailed returns the error of a conditional write; item is returned
// with it if the request asked for it, else nil.
func conditionFailed(item attribute.Item) *protocol.Error {
	e := &protocol.Error{Code: "ConditionalCheckFailedException", Message: "The conditional request failed"}
	if item != nil {
		e.Fields = map[string]any{"Item": item}
	}
	return e
}
