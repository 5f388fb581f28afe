package dynamodb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

func notImplemented(operation, member string) error {
	return attribute.Invalidf("this emulator for DynamoDB does not implement the parameter %s of %s", member, operation)
}

// metrics are the parameters that ask for statistics about a request.
type metrics struct {
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

// check returns an error if a request asks for statistics that the emulator
// does not have.
func (m metrics) check(operation string) error {
	for _, member := range []struct{ name, value string }{
		{"ReturnConsumedCapacity", m.ReturnConsumedCapacity},
		{"ReturnItemCollectionMetrics", m.ReturnItemCollectionMetrics},
	} {
		if member.value != "" && member.value != "NONE" {
			return notImplemented(operation, member.name+"="+member.value)
		}
	}
	return nil
}

// oneOf checks a parameter that has a fixed set of values; the first is the
// default.
func oneOf(member, value string, allowed ...string) (string, error) {
	if value == "" {
		return allowed[0], nil
	}
	if !slices.Contains(allowed, value) {
		return "", constraint(member, value, "Member must satisfy enum value set: ["+strings.Join(allowed, ", ")+"]")
	}
	return value, nil
}

// constraint returns the error of AWS for a parameter that violates the
// request's schema.
func constraint(member, value, rule string) error {
	return attribute.Invalidf("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s",
		value, strings.ToLower(member[:1])+member[1:], rule)
}

func checkRange(member string, n, low, high int) error {
	if n < low || n > high {
		return constraint(member, strconv.Itoa(n), fmt.Sprintf("Member must be between %d and %d", low, high))
	}
	return nil
}
