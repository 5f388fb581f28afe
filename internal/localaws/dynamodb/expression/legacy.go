package expression

import (
	"maps"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// Comparison is a condition on one attribute in the form that was there before
// expressions: an operator such as EQ, with its values.
type Comparison struct {
	Operator string
	Values   []attribute.Value
}

// arity is the smallest and the largest number of values of an operator.
type arity struct{ least, most int }

var arities = map[string]arity{
	"EQ": {1, 1}, "NE": {1, 1}, "LE": {1, 1}, "LT": {1, 1}, "GE": {1, 1}, "GT": {1, 1},
	"NOT_NULL": {0, 0}, "NULL": {0, 0}, "CONTAINS": {1, 1}, "NOT_CONTAINS": {1, 1}, "BEGINS_WITH": {1, 1},
	"IN": {1, 1 << 20}, "BETWEEN": {2, 2},
}

// The types that the values of an operator can have; those that are not here can
// have any.
var (
	scalars      = []attribute.Type{attribute.TypeString, attribute.TypeNumber, attribute.TypeBinary}
	operandTypes = map[string][]attribute.Type{
		"LE": scalars, "LT": scalars, "GE": scalars, "GT": scalars, "IN": scalars, "BETWEEN": scalars,
		"CONTAINS":     append([]attribute.Type{attribute.TypeBool, attribute.TypeNull}, scalars...),
		"NOT_CONTAINS": append([]attribute.Type{attribute.TypeBool, attribute.TypeNull}, scalars...),
		"BEGINS_WITH":  {attribute.TypeString, attribute.TypeBinary},
	}
)

// Check returns an error for the wrong number or types of values.
func (c Comparison) Check() error {
	want := arities[c.Operator]
	if len(c.Values) < want.least || len(c.Values) > want.most {
		return badParameter("Invalid number of argument(s) for the %s ComparisonOperator", c.Operator)
	}
	allowed, limited := operandTypes[c.Operator]
	for _, v := range c.Values {
		if v.Type() != c.Values[0].Type() {
			return badParameter("AttributeValues inside AttributeValueList must be of same type")
		}
		if limited && !slices.Contains(allowed, v.Type()) {
			return badParameter("ComparisonOperator %s is not valid for %s AttributeValue type", c.Operator, v.Type())
		}
	}
	if c.Operator == "BETWEEN" {
		if order, _ := attribute.Compare(c.Values[0], c.Values[1]); order > 0 {
			return attribute.Invalidf("The BETWEEN condition was provided a range " +
				"where the lower bound is greater than the upper bound")
		}
	}
	return nil
}

func badParameter(format string, args ...any) error {
	return attribute.Invalidf("One or more parameter values were invalid: "+format, args...)
}

var comparators = map[string]string{"EQ": "=", "NE": "<>", "LE": "<=", "LT": "<", "GE": ">=", "GT": ">"}

// on returns the condition on an attribute.
func (c Comparison) on(name string) node {
	target := path{{name: name}}
	values := make([]operand, len(c.Values))
	for i, v := range c.Values {
		values[i] = literal{v}
	}
	with := func(function string) node { return call{function, append([]operand{target}, values...)} }
	switch c.Operator {
	case "NULL":
		return with("attribute_not_exists")
	case "NOT_NULL":
		return with("attribute_exists")
	case "CONTAINS":
		return with("contains")
	case "NOT_CONTAINS":
		return not{with("contains")}
	case "BEGINS_WITH":
		return with("begins_with")
	case "IN":
		return in{target, values}
	case "BETWEEN":
		return between{target, values[0], values[1]}
	}
	return comparison{comparators[c.Operator], target, values[0]}
}

// Comparisons returns the condition that all comparisons are true, or one of
// them. They have been checked.
func Comparisons(all map[string]Comparison, anyOf bool) Condition {
	var root node
	for _, name := range slices.Sorted(maps.Keys(all)) {
		n := all[name].on(name)
		switch {
		case root == nil:
			root = n
		case anyOf:
			root = or{root, n}
		default:
			root = and{root, n}
		}
	}
	return Condition{root: root}
}

// indexable are the operators that a query can have.
var indexable = []string{"EQ", "LE", "LT", "GE", "GT", "BEGINS_WITH", "BETWEEN"}

// KeyComparisons returns the condition of a query. The comparisons have been
// checked.
func KeyComparisons(all map[string]Comparison) (UnboundKeyCondition, error) {
	var u UnboundKeyCondition
	if len(all) < 1 || len(all) > maxKeyConditions {
		return u, attribute.Invalidf("Conditions can be of length 1 or 2 only")
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		u.conditions = append(u.conditions, keyPredicate{
			name: name, node: c.on(name), values: c.Values, scattered: !slices.Contains(indexable, c.Operator),
		})
	}
	return u, nil
}

// Change is a change of one attribute in the form that was there before
// expressions. A nil value deletes the attribute.
type Change struct {
	Action string // PUT, ADD or DELETE
	Value  attribute.Value
}

// Check returns an error for an action without a value, or with one of a type
// that it does not have.
func (c Change) Check() error {
	switch {
	case c.Value == nil && c.Action != "DELETE":
		return badParameter("Only DELETE action is allowed when no attribute value is specified")
	case c.Value == nil || c.Action == "PUT":
		return nil
	case c.Action == "DELETE" && !isSet(c.Value):
		return badParameter("DELETE action with value is not supported for the type %s", c.Value.Type())
	case c.Action == "ADD" && !isAddable(c.Value) && c.Value.Type() != attribute.TypeList:
		return badParameter("ADD action is not supported for the type %s", c.Value.Type())
	}
	return nil
}

// Changes returns the update that makes all changes. They have been checked.
func Changes(all map[string]Change) Update {
	u := Update{legacy: true}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		a := action{path{{name: name}}, constant(c.Value), c.Value}
		switch {
		case c.Value == nil:
			u.removals = append(u.removals, a)
		case c.Action == "ADD":
			u.adds = append(u.adds, a)
		case c.Action == "DELETE":
			u.deletions = append(u.deletions, a)
		default:
			u.sets = append(u.sets, a)
		}
	}
	return u
}
