package expression

import (
	"reflect"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// Condition parses a condition or filter. kind is the parameter of the request
// that contains it, such as ConditionExpression. A nil text is true for every
// item.
func (s *Scope) Condition(kind string, text *string) (Condition, error) {
	if text == nil {
		return Condition{}, nil
	}
	p, err := s.parser(kind, *text)
	if err != nil {
		return Condition{}, err
	}
	root, err := p.or()
	if err != nil {
		return Condition{}, err
	}
	return Condition{root}, p.expectEnd()
}

func (p *parser) or() (node, error) {
	left, err := p.and()
	for err == nil && p.next.is("OR") {
		var right node
		right, err = p.after(p.and)
		left = or{left, right}
	}
	return left, err
}

func (p *parser) and() (node, error) {
	left, err := p.not()
	for err == nil && p.next.is("AND") {
		var right node
		right, err = p.after(p.not)
		left = and{left, right}
	}
	return left, err
}

func (p *parser) not() (node, error) {
	if !p.next.is("NOT") {
		return p.predicate()
	}
	operand, err := p.after(p.not)
	return not{operand}, err
}

// after skips an operator and parses the node after it.
func (p *parser) after(parse func() (node, error)) (node, error) {
	if err := p.operator(); err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	return parse()
}

func (p *parser) predicate() (node, error) {
	if p.next.is("(") {
		return p.parentheses()
	}
	if p.atFunction() && predicates[p.next.text] != 0 {
		return p.call()
	}
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err := p.operator(); err != nil {
		return nil, err
	}
	switch operator := p.next.text; {
	case p.next.kind == symbol && slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, operator):
		return p.comparison(left, operator)
	case p.next.is("BETWEEN"):
		return p.between(left)
	case p.next.is("IN"):
		return p.in(left)
	}
	return nil, p.syntaxError()
}

func (p *parser) parentheses() (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	doubled := p.next.is("(")
	inner, err := p.or()
	if err != nil {
		return nil, err
	}
	if _, whole := inner.(group); doubled && whole {
		return nil, p.invalid("The expression has redundant parentheses;")
	}
	return group{inner}, p.expect(")")
}

// group is a condition in parentheses.
type group struct{ node }

// predicates are the functions with a boolean result, with the number of their
// arguments.
var predicates = map[string]int{
	"attribute_exists": 1, "attribute_not_exists": 1, "attribute_type": 2, "begins_with": 2, "contains": 2,
}

func (p *parser) call() (node, error) {
	function := p.next.text
	arguments, err := p.arguments(predicates[function])
	if err != nil {
		return nil, err
	}
	return call{function, arguments}, p.checkCall(function, arguments)
}

func (p *parser) checkCall(function string, arguments []operand) error {
	switch function {
	case "attribute_exists", "attribute_not_exists":
		if _, ok := arguments[0].(path); !ok {
			return p.invalid("Operator or function requires a document path; operator or function: %s", function)
		}
		return nil
	case "attribute_type":
		return p.checkTypeName(arguments[1])
	case "begins_with":
		if err := p.checkPrefixes(arguments); err != nil {
			return err
		}
	}
	return p.checkDifferent(function, arguments[0], arguments[1])
}

func (p *parser) checkPrefixes(operands []operand) error {
	for _, o := range operands {
		l, ok := o.(literal)
		if ok && l.value.Type() != attribute.TypeString && l.value.Type() != attribute.TypeBinary {
			return p.badOperand("begins_with", l.value)
		}
	}
	return nil
}

func (p *parser) checkTypeName(o operand) error {
	l, ok := o.(literal)
	if !ok {
		return p.invalid("Incorrect operand type for operator or function; " +
			"operator or function: attribute_type, operand type: document path")
	}
	name, ok := l.value.(attribute.String)
	if !ok {
		return p.badOperand("attribute_type", l.value)
	}
	if !slices.Contains(attribute.Types, attribute.Type(name)) {
		return p.invalid("Invalid attribute type name found; type: %s, valid types: %s", name, attribute.Types)
	}
	return nil
}

// checkDifferent returns an error if a path is compared with itself.
func (p *parser) checkDifferent(operator string, first, second operand) error {
	if _, ok := first.(literal); !ok && reflect.DeepEqual(first, second) {
		return p.invalid("The first operand must be distinct from the remaining operands "+
			"for this operator or function; operator: %s, first operand: %v", operator, first)
	}
	return nil
}

func (p *parser) comparison(left operand, operator string) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	right, err := p.operand()
	if err != nil {
		return nil, err
	}
	if operator != "=" && operator != "<>" {
		if err := p.checkOrdered(operator, left, right); err != nil {
			return nil, err
		}
	}
	return comparison{operator, left, right}, p.checkDifferent(operator, left, right)
}

// checkOrdered returns an error for values whose types have no order.
func (p *parser) checkOrdered(operator string, operands ...operand) error {
	for _, o := range operands {
		l, ok := o.(literal)
		if !ok {
			continue
		}
		if _, ordered := attribute.Compare(l.value, l.value); !ordered {
			return p.badOperand(operator, l.value)
		}
	}
	return nil
}

func (p *parser) between(left operand) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	low, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err := p.expect("AND"); err != nil {
		return nil, err
	}
	high, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err := p.checkOrdered("BETWEEN", left, low, high); err != nil {
		return nil, err
	}
	return between{left, low, high}, p.checkBounds(low, high)
}

func (p *parser) checkBounds(low, high operand) error {
	l, lowKnown := low.(literal)
	h, highKnown := high.(literal)
	if !lowKnown || !highKnown {
		return nil
	}
	order, same := attribute.Compare(l.value, h.value)
	switch {
	case !same:
		return p.invalid("The BETWEEN operator requires same data type for lower and upper bounds; "+
			"lower bound operand: %s, upper bound operand: %s", l.value.Type(), h.value.Type())
	case order > 0:
		return p.invalid("The BETWEEN operator requires upper bound to be greater than or equal to lower bound")
	}
	return nil
}

func (p *parser) in(left operand) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	operands, err := list(p, p.operand)
	if err != nil {
		return nil, err
	}
	if len(operands) > maxOperands {
		return nil, p.invalid("Too many operands for the IN operator; number of operands: %d", len(operands))
	}
	return in{left, operands}, p.expect(")")
}
