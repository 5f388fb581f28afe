package attribute

import (
	"fmt"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Invalidf returns a ValidationException, the error for a request that can
// never succeed.
func Invalidf(format string, args ...any) *protocol.Error {
	return &protocol.Error{Code: "ValidationException", Message: fmt.Sprintf(format, args...)}
}

func badParameter(format string, args ...any) error {
	return Invalidf("One or more parameter values were invalid: "+format, args...)
}
