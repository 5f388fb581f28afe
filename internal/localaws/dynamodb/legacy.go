package dynamodb

import (
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
)

// attributesToGet is the older form of a ProjectionExpression: names of
// attributes, without paths.
type attributesToGet struct {
	AttributesToGet []string `rule:"len=1.."`
}

// projection returns the projection on the attributes, or on the whole item if
// the request names none.
func (a attributesToGet) projection() (expression.Projection, error) {
	if a.AttributesToGet == nil {
		return expression.Projection{}, nil
	}
	seen := make(map[string]bool)
	for _, name := range a.AttributesToGet {
		if seen[name] {
			return expression.Projection{}, badParameter("Duplicate value in attribute name: %s", name)
		}
		seen[name] = true
	}
	return expression.Attributes(a.AttributesToGet), nil
}
