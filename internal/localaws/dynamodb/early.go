package dynamodb

import (
	"errors"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// earlyError is an error that AWS finds in a request before it looks for the
// table.
type earlyError struct{ cause *protocol.Error }

// Error implements the interface error.
func (e *earlyError) Error() string { return e.cause.Error() }

// Unwrap returns the error without its mark.
func (e *earlyError) Unwrap() error { return e.cause }

// early marks a validation error as early.
func early(err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.Code == "ValidationException" {
		return &earlyError{e}
	}
	return err
}

// countsEarly are the operations that report an early error like a rule that is
// broken, as moto has recorded in 2026. Others have not done so yet.
var countsEarly = map[string]bool{"PutItem": true, "UpdateItem": true, "DeleteItem": true, "Query": true}

// decodingError marks an error of a bad value. Those of a query are not reported
// like the others.
func decodingError(err error, operation string) error {
	if operation == "Query" {
		return err
	}
	return early(err)
}

// reported returns an error as an operation reports it.
func reported(err error, operation string) error {
	e, ok := errors.AsType[*earlyError](err)
	switch {
	case !ok:
		return err
	case countsEarly[operation] && !strings.Contains(e.cause.Message, " detected: "):
		return attribute.Invalidf("1 validation error detected: %s", e.cause.Message)
	}
	return e.cause
}
