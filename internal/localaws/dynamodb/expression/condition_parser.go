package expression

import (
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
	whole, err := p.or()
	if err != nil {
		return Condition{}, err
	}
	root, err := p.condition(whole)
	if err != nil {
		return Condition{}, err
	}
	return Condition{root, p.nested}, p.finish()
}

// part is a part of a condition: a condition itself, or an operand of one.
type part struct {
	node    node
	operand operand
	// function is the function that the part is a call of.
	function string
	wrapped  bool // in parentheses
}

// condition returns a part that must be a condition.
func (p *parser) condition(x part) (node, error) {
	switch {
	case x.node != nil:
		return x.node, nil
	case x.function != "":
		p.misplaced(x.function)
		return not{}, nil
	}
	return nil, p.syntaxError()
}

// operandOf returns a part that must be an operand.
func (p *parser) operandOf(x part) (operand, error) {
	switch {
	case x.operand != nil:
		return x.operand, nil
	case x.function != "":
		p.misplaced(x.function)
		return literal{attribute.Null{}}, nil
	}
	return nil, p.syntaxError()
}

func (p *parser) misplaced(function string) {
	p.fail(misplacedFunction, p.invalid("The function is not allowed to be used this way in an expression; "+
		"function: %s", function))
}

func (p *parser) or() (part, error) {
	return p.joined("OR", p.and, func(left, right node) node { return or{left, right} })
}

func (p *parser) and() (part, error) {
	return p.joined("AND", p.not, func(left, right node) node { return and{left, right} })
}

// joined parses one or more parts with an operator between them.
func (p *parser) joined(operator string, parse func() (part, error), join func(left, right node) node) (part, error) {
	left, err := parse()
	for err == nil && p.next.is(operator) {
		var l, r node
		if l, err = p.condition(left); err != nil {
			break
		}
		if r, err = p.after(parse); err == nil {
			left = part{node: join(l, r)}
		}
	}
	return left, err
}

// after skips an operator and parses the condition after it.
func (p *parser) after(parse func() (part, error)) (node, error) {
	p.operator()
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := parse()
	if err != nil {
		return nil, err
	}
	return p.condition(x)
}

func (p *parser) not() (part, error) {
	if !p.next.is("NOT") {
		return p.predicate()
	}
	inner, err := p.after(p.not)
	return part{node: not{inner}}, err
}

// predicate parses one part, or two or more with an operator that compares them.
func (p *parser) predicate() (part, error) {
	first, err := p.primary()
	if err != nil {
		return part{}, err
	}
	compares := p.next.kind == symbol && slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, p.next.text)
	if !compares && !p.next.is("BETWEEN") && !p.next.is("IN") {
		return first, nil
	}
	left, err := p.operandOf(first)
	if err != nil {
		return part{}, err
	}
	p.operator()
	var n node
	switch {
	case compares:
		n, err = p.comparison(left, p.next.text)
	case p.next.is("BETWEEN"):
		n, err = p.between(left)
	default:
		n, err = p.in(left)
	}
	return part{node: n}, err
}

// primary parses a placeholder, a path, a function, or something in parentheses.
func (p *parser) primary() (part, error) {
	switch {
	case p.next.is("("):
		return p.parentheses()
	case p.next.kind == valuePlace:
		v, err := p.value()
		return part{operand: literal{v}}, err
	case p.atFunction():
		return p.call()
	}
	steps, err := p.path()
	return part{operand: steps}, err
}

func (p *parser) parentheses() (part, error) {
	if err := p.advance(); err != nil {
		return part{}, err
	}
	inner, err := p.or()
	if err != nil {
		return part{}, err
	}
	if err := p.expect(")"); err != nil {
		return part{}, err
	}
	if inner.wrapped {
		p.fail(redundantParentheses, p.redundant())
	}
	inner.wrapped = true
	if steps, ok := inner.operand.(path); ok && (p.next.is(".") || p.next.is("[")) {
		steps, err = p.pathFrom(steps)
		return part{operand: steps}, err
	}
	return inner, nil
}

func (p *parser) operandNext() (operand, error) {
	x, err := p.primary()
	if err != nil {
		return nil, err
	}
	return p.operandOf(x)
}

func (p *parser) comparison(left operand, operator string) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	right, err := p.operandNext()
	if err != nil {
		return nil, err
	}
	if operator != "=" && operator != "<>" {
		p.checkOrdered(operator, left, right)
	}
	p.checkDifferent(operator, left, right)
	return comparison{operator, left, right}, nil
}

func (p *parser) between(left operand) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	low, err := p.operandNext()
	if err != nil {
		return nil, err
	}
	if err := p.expect("AND"); err != nil {
		return nil, err
	}
	high, err := p.operandNext()
	if err != nil {
		return nil, err
	}
	p.checkOrdered("BETWEEN", left, low, high)
	p.checkBounds(low, high)
	return between{left, low, high}, nil
}

func (p *parser) in(left operand) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	operands, err := list(p, p.operandNext)
	if err != nil {
		return nil, err
	}
	if len(operands) > maxOperands {
		p.fail(everythingElse, p.invalid("Too many operands for the IN operator; number of operands: %d", len(operands)))
	}
	return in{left, operands}, p.expect(")")
}
