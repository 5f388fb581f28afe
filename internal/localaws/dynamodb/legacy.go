package dynamodb

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
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

// comparison is the older form of a condition on one attribute.
type comparison struct {
	AttributeValueList []attribute.Any
	//nolint:lll // one rule
	ComparisonOperator string `rule:"required,enum=IN|NULL|BETWEEN|LT|NOT_CONTAINS|EQ|GT|NOT_NULL|NE|LE|BEGINS_WITH|GE|CONTAINS"`
}

type comparisons map[string]comparison

func (cs comparisons) parse() (map[string]expression.Comparison, error) {
	parsed := make(map[string]expression.Comparison, len(cs))
	for _, name := range slices.Sorted(maps.Keys(cs)) {
		vs, err := values(cs[name].AttributeValueList)
		if err != nil {
			return nil, err
		}
		c := expression.Comparison{Operator: cs[name].ComparisonOperator, Values: vs}
		if err := c.Check(); err != nil {
			return nil, err
		}
		parsed[name] = c
	}
	return parsed, nil
}

func values(all []attribute.Any) ([]attribute.Value, error) {
	var vs []attribute.Value
	for _, a := range all {
		v, err := a.Value()
		if err != nil {
			return nil, err
		}
		vs = append(vs, v)
	}
	return vs, nil
}

// junction says how the older conditions are joined.
type junction struct {
	ConditionalOperator string `rule:"enum=OR|AND"`
}

// filter returns the condition of a QueryFilter or ScanFilter.
func (j junction) filter(cs comparisons) (expression.Condition, error) {
	parsed, err := cs.parse()
	return expression.Comparisons(parsed, j.ConditionalOperator == "OR"), err
}

// expectations are the older form of the condition of a write.
type expectations struct {
	junction

	Expected map[string]expectation `rule:"is=ExpectedAttributeValue"`
}

type expectation struct {
	Value              *attribute.Any
	Exists             *bool
	AttributeValueList []attribute.Any
	ComparisonOperator string `rule:"enum=IN|NULL|BETWEEN|LT|NOT_CONTAINS|EQ|GT|NOT_NULL|NE|LE|BEGINS_WITH|GE|CONTAINS"`
}

// condition returns the condition, and whether there is one.
func (e expectations) condition() (expression.Condition, bool, error) {
	parsed := make(map[string]expression.Comparison, len(e.Expected))
	for _, name := range slices.Sorted(maps.Keys(e.Expected)) {
		vs, err := e.Expected[name].values()
		if err != nil {
			return expression.Condition{}, false, err
		}
		c, problem := e.Expected[name].comparison(vs)
		if problem != "" {
			return expression.Condition{}, false, badParameter("%s for Attribute: %s", problem, name)
		}
		if err := c.Check(); err != nil {
			return expression.Condition{}, false, err
		}
		parsed[name] = c
	}
	return expression.Comparisons(parsed, e.ConditionalOperator == "OR"), len(parsed) > 0, nil
}

// values returns the values of the expectation.
func (e expectation) values() ([]attribute.Value, error) {
	if e.Value != nil {
		return values([]attribute.Any{*e.Value})
	}
	return values(e.AttributeValueList)
}

// comparison returns the comparison that the expectation means, or what is wrong
// with it.
func (e expectation) comparison(vs []attribute.Value) (c expression.Comparison, problem string) {
	operator := e.ComparisonOperator
	switch {
	case e.AttributeValueList != nil && e.Value != nil:
		return c, "Value and AttributeValueList cannot be used together"
	case e.AttributeValueList != nil && operator == "":
		return c, "AttributeValueList can only be used with a ComparisonOperator"
	case e.Exists != nil && operator != "":
		return c, "Exists and ComparisonOperator cannot be used together"
	case operator != "":
		return e.compared(vs)
	case e.Exists == nil && e.Value == nil:
		return c, "Value must be provided when Exists is null"
	case e.Exists == nil || *e.Exists:
		if e.Value == nil {
			return c, "Value must be provided when Exists is true"
		}
		return expression.Comparison{Operator: "EQ", Values: vs}, ""
	case e.Value != nil:
		return c, "Value cannot be used when Exists is false"
	}
	return expression.Comparison{Operator: "NULL"}, ""
}

func (e expectation) compared(vs []attribute.Value) (c expression.Comparison, problem string) {
	c.Operator, c.Values = e.ComparisonOperator, vs
	if e.Value == nil && e.AttributeValueList == nil && c.Operator != "NULL" && c.Operator != "NOT_NULL" {
		return c, fmt.Sprintf("Value or AttributeValueList must be used with ComparisonOperator: %s", c.Operator)
	}
	return c, ""
}

// attributeUpdate is the older form of an update of one attribute.
type attributeUpdate struct {
	Value  *attribute.Any
	Action string `rule:"enum=ADD|PUT|DELETE"`
}

func changes(all map[string]attributeUpdate) (expression.Update, error) {
	parsed := make(map[string]expression.Change, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := expression.Change{Action: orDefault(all[name].Action, "PUT")}
		if v := all[name].Value; v != nil {
			var err error
			if c.Value, err = v.Value(); err != nil {
				return expression.Update{}, err
			}
		}
		if err := c.Check(); err != nil {
			return expression.Update{}, err
		}
		parsed[name] = c
	}
	return expression.Changes(parsed), nil
}
