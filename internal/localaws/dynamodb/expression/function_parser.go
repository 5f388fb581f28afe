package expression

import (
	"reflect"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// predicates are the functions with a boolean result, with the number of their
// arguments.
var predicates = map[string]int{
	"attribute_exists": 1, "attribute_not_exists": 1, "attribute_type": 2, "begins_with": 2, "contains": 2,
}

// functions are all functions; those of updates cannot be used in conditions.
var functions = map[string]bool{
	"size": true, "attribute_exists": true, "attribute_not_exists": true, "attribute_type": true,
	"begins_with": true, "contains": true, "if_not_exists": true, "list_append": true,
}

// atFunction reports whether a function's name and its parenthesis come next.
func (p *parser) atFunction() bool {
	ahead := p.lexer
	t, ok := ahead.next()
	return ok && p.next.kind == word && t.is("(") && !isKeyword(p.next)
}

// openFunction skips a function's name and its parenthesis.
func (p *parser) openFunction() error {
	p.operator()
	if err := p.advance(); err != nil {
		return err
	}
	return p.expect("(")
}

// call parses a function of conditions.
func (p *parser) call() (part, error) {
	function := p.next.text
	if !functions[function] {
		p.fail(unknownFunction, p.invalid("Invalid function name; function: %s", function))
	}
	if err := p.openFunction(); err != nil {
		return part{}, err
	}
	arguments, err := list(p, p.operandNext)
	if err != nil {
		return part{}, err
	}
	if err := p.expect(")"); err != nil {
		return part{}, err
	}
	if function == "size" {
		return part{operand: p.sizeOf(arguments), function: function}, nil
	}
	want, ok := predicates[function]
	if !ok {
		if functions[function] {
			p.misplaced(function)
		}
		return part{node: not{}, function: function}, nil
	}
	if p.checkCount(function, arguments, want) {
		p.checkCall(function, arguments)
	}
	return part{node: call{function, arguments}, function: function}, nil
}

func (p *parser) checkCount(function string, arguments []operand, want int) bool {
	if len(arguments) == want {
		return true
	}
	p.fail(everythingElse, p.invalid("Incorrect number of operands for operator or function; "+
		"operator or function: %s, number of operands: %d", function, len(arguments)))
	return false
}

func (p *parser) sizeOf(arguments []operand) operand {
	if p.checkCount("size", arguments, 1) {
		if v := known(arguments[0]); v != nil {
			if _, ok := attribute.Extent(v); !ok {
				p.badOperand("size", v.Type())
			}
		}
	}
	return sizeOf{arguments[0]}
}

// known returns the value of an operand that does not depend on the item, or
// any value of its type, or nil.
func known(o operand) attribute.Value {
	switch o := o.(type) {
	case literal:
		return o.value
	case sizeOf:
		return attribute.Number{}
	}
	return nil
}

func (p *parser) badOperand(operator string, t attribute.Type) {
	p.fail(everythingElse, p.invalid("Incorrect operand type for operator or function; "+
		"operator or function: %s, operand type: %s", operator, t))
}

func (p *parser) checkCall(function string, arguments []operand) {
	switch function {
	case "attribute_exists", "attribute_not_exists":
		if _, ok := arguments[0].(path); !ok {
			p.fail(everythingElse, p.invalid("Operator or function requires a document path; "+
				"operator or function: %s", function))
		}
		return
	case "begins_with":
		for _, o := range arguments {
			v := known(o)
			if v != nil && v.Type() != attribute.TypeString && v.Type() != attribute.TypeBinary {
				p.badOperand("begins_with", v.Type())
			}
		}
	}
	p.checkDifferent(function, arguments[0], arguments[1])
	if function == "attribute_type" {
		p.checkTypeName(arguments[1])
	}
}

func (p *parser) checkTypeName(o operand) {
	v := known(o)
	name, ok := v.(attribute.String)
	switch {
	case v == nil:
		p.badOperand("attribute_type", attribute.Type(listed(attribute.Types)))
	case !ok:
		p.badOperand("attribute_type", v.Type())
	case !slices.Contains(attribute.Types, attribute.Type(name)):
		p.fail(everythingElse, p.invalid("Invalid attribute type name found; type: %s, valid types: %s",
			name, listed(attribute.Types)))
	}
}

// listed formats types like DynamoDB's messages: {S,N}.
func listed(types []attribute.Type) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return "{" + strings.Join(names, ",") + "}"
}

// checkDifferent fails if a path is compared with itself.
func (p *parser) checkDifferent(operator string, first, second operand) {
	if _, ok := first.(literal); !ok && reflect.DeepEqual(first, second) {
		p.fail(everythingElse, p.invalid("The first operand must be distinct from the remaining operands "+
			"for this operator or function; operator: %s, first operand: %v", operator, first))
	}
}

// checkOrdered fails for values whose types have no order.
func (p *parser) checkOrdered(operator string, operands ...operand) {
	for _, o := range operands {
		l, ok := o.(literal)
		if !ok {
			continue
		}
		if _, ordered := attribute.Compare(l.value, l.value); !ordered {
			p.badOperand(operator, l.value.Type())
		}
	}
}

func (p *parser) checkBounds(low, high operand) {
	l, lowKnown := low.(literal)
	h, highKnown := high.(literal)
	if !lowKnown || !highKnown {
		return
	}
	bounds := "; lower bound operand: " + shown(l.value) + ", upper bound operand: " + shown(h.value)
	order, same := attribute.Compare(l.value, h.value)
	switch {
	case !same:
		p.fail(everythingElse, p.invalid("The BETWEEN operator requires same data type for lower and upper bounds%s", bounds))
	case order > 0:
		p.fail(everythingElse, p.invalid("The BETWEEN operator requires upper bound "+
			"to be greater than or equal to lower bound%s", bounds))
	}
}

// shown formats a value like DynamoDB's messages: AttributeValue: {S:text}.
func shown(v attribute.Value) string {
	return "AttributeValue: {" + string(v.Type()) + ":" + attribute.Text(v) + "}"
}
