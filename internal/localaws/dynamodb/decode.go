package dynamodb

import (
	"reflect"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// orDefault returns the value of a parameter with a default.
func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// constraint returns the error of AWS for a parameter that violates the
// request's schema.
func constraint(value, member, rule string) error {
	return attribute.Invalidf("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s",
		value, member, rule)
}

// The parameters that have expressions and the older ones that expressions have
// replaced, in the order in which AWS's messages name them.
var (
	expressionParameters = []string{
		"ProjectionExpression", "FilterExpression", "UpdateExpression", "ConditionExpression", "KeyConditionExpression",
	}
	legacyParameters = []string{
		"AttributesToGet", "ScanFilter", "QueryFilter", "AttributeUpdates", "Expected", "ConditionalOperator",
		"KeyConditions",
	}
)

// checkExpressions checks which of the parameters for expressions a request has.
// AWS does this before it looks at any value.
func checkExpressions(members map[string]any, t reflect.Type) error {
	if requests, ok := members["RequestItems"].(map[string]any); ok {
		for _, r := range requests {
			if r, ok := r.(map[string]any); ok {
				if err := checkExpressions(r, t); err != nil {
					return err
				}
			}
		}
	}
	has := func(name string) bool { return members[name] != nil }
	expressions, legacy := filter(expressionParameters, has), filter(legacyParameters, has)
	if !has("KeyConditionExpression") {
		// KeyConditions may stand beside the expressions that they do not replace.
		legacy = slices.DeleteFunc(legacy, func(name string) bool { return name == "KeyConditions" })
	}
	if len(expressions) > 0 && len(legacy) > 0 {
		return attribute.Invalidf("Can not use both expression and non-expression parameters in the same request: "+
			"Non-expression parameters: {%s} Expression parameters: {%s}",
			strings.Join(legacy, ", "), strings.Join(expressions, ", "))
	}
	if len(expressions) == 0 && has("ExpressionAttributeNames") {
		return attribute.Invalidf("ExpressionAttributeNames can only be specified when using expressions")
	}
	takes := func(name string) bool {
		_, ok := t.FieldByName(name)
		return ok
	}
	valued := func(name string) bool { return has(name) && takes(name) }
	if has("ExpressionAttributeValues") && !slices.ContainsFunc(expressionParameters[1:], valued) {
		withValues := filter(expressionParameters[1:], takes)
		are := " is null"
		if len(withValues) > 1 {
			are = " are null"
		}
		return attribute.Invalidf("ExpressionAttributeValues can only be specified when using expressions: %s%s",
			strings.Join(withValues, " and "), are)
	}
	return nil
}

func filter(names []string, keep func(string) bool) []string {
	var kept []string
	for _, n := range names {
		if keep(n) {
			kept = append(kept, n)
		}
	}
	return kept
}

// checkTableName checks the name of the table of an operation on tables. ARNs
// are longer than names.
func checkTableName(_ *Service, _ string, members map[string]any) error {
	name, ok := members["TableName"].(string)
	switch {
	case !ok:
		return attribute.Invalidf("The parameter 'TableName' is required but was not present in the request")
	case (len(name) < 3 || len(name) > 255) && !strings.HasPrefix(name, "arn:"):
		return attribute.Invalidf("TableName must be at least 3 characters long and at most 255 characters long")
	}
	return nil
}
