package stack

import (
	"strings"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// Error says what is wrong in a template, where, and how to fix it.
type Error = cfn.Error

// listed joins names for a message; it returns "none" for no names.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
