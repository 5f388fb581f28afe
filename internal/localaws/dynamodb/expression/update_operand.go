package expression

import (
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// evaluation returns the value of a SET operand for an item, or an error that
// says why there is none.
type evaluation = func(item attribute.Item) (attribute.Value, error)

func constant(v attribute.Value) evaluation {
	return func(attribute.Item) (attribute.Value, error) { return v, nil }
}

// term is an operand of SET. known is set if the value, or at least its type,
// does not depend on the item.
type term struct {
	known   attribute.Value
	value   evaluation
	path    path // if the operand is one
	wrapped bool // in parentheses
}

// sum parses the right side of SET: one operand, or two with + or -.
func (p *parser) sum() (term, error) {
	left, err := p.term()
	if err != nil {
		return term{}, err
	}
	operator := p.next.text
	if p.next.kind != symbol || operator != "+" && operator != "-" {
		return left, nil
	}
	p.operator()
	if err := p.advance(); err != nil {
		return term{}, err
	}
	right, err := p.term()
	if err != nil {
		return term{}, err
	}
	return p.arithmetic(operator, left, right), nil
}

func (p *parser) arithmetic(operator string, left, right term) term {
	for _, t := range []term{left, right} {
		if t.known != nil && t.known.Type() != attribute.TypeNumber {
			p.badOperand(operator, t.known.Type())
			break
		}
	}
	return term{value: func(item attribute.Item) (attribute.Value, error) {
		a, b, err := both[attribute.Number](item, left, right)
		switch {
		case err != nil:
			return nil, err
		case operator == "+":
			return a.Add(b)
		default:
			return a.Sub(b)
		}
	}}
}

// both evaluates two operands that must be of type T.
func both[T attribute.Value](item attribute.Item, left, right term) (a, b T, err error) {
	l, err := left.value(item)
	if err != nil {
		return a, b, err
	}
	r, err := right.value(item)
	if err != nil {
		return a, b, err
	}
	a, leftOK := l.(T)
	b, rightOK := r.(T)
	if !leftOK || !rightOK {
		return a, b, wrongType()
	}
	return a, b, nil
}

// term parses a placeholder, a path, a function, or an operand in parentheses.
func (p *parser) term() (term, error) {
	switch {
	case p.next.is("("):
		return p.termInParentheses()
	case p.next.kind == valuePlace:
		v, err := p.value()
		return term{known: v, value: constant(v)}, err
	case p.atFunction():
		return p.updateFunction()
	}
	source, err := p.path()
	return term{value: existing(source), path: source}, err
}

func (p *parser) termInParentheses() (term, error) {
	if err := p.advance(); err != nil {
		return term{}, err
	}
	inner, err := p.sum()
	if err != nil {
		return term{}, err
	}
	if err := p.expect(")"); err != nil {
		return term{}, err
	}
	if inner.wrapped {
		p.fail(redundantParentheses, p.redundant())
	}
	inner.wrapped = true
	if inner.path != nil && (p.next.is(".") || p.next.is("[")) {
		source, err := p.pathFrom(inner.path)
		return term{value: existing(source), path: source}, err
	}
	return inner, nil
}

// existing returns an evaluation of the path. It is an error if the item has
// nothing there.
func existing(source path) evaluation {
	return func(item attribute.Item) (attribute.Value, error) {
		if v := source.resolve(item); v != nil {
			return v, nil
		}
		return nil, attribute.Invalidf("The provided expression refers to an attribute that does not exist in the item")
	}
}

// updateFunction parses a function of updates.
func (p *parser) updateFunction() (term, error) {
	function := p.next.text
	if err := p.openFunction(); err != nil {
		return term{}, err
	}
	arguments, err := list(p, p.term)
	if err != nil {
		return term{}, err
	}
	if err := p.expect(")"); err != nil {
		return term{}, err
	}
	switch {
	case function == "if_not_exists":
		return p.ifNotExists(arguments), nil
	case function == "list_append":
		return p.listAppend(arguments), nil
	case functions[function]:
		p.misplaced(function)
	default:
		p.fail(unknownFunction, p.invalid("Invalid function name; function: %s", function))
	}
	return term{value: constant(attribute.Null{})}, nil
}

func (p *parser) checkTerms(function string, arguments []term) bool {
	if len(arguments) == 2 {
		return true
	}
	p.fail(everythingElse, p.invalid("Incorrect number of operands for operator or function; "+
		"operator or function: %s, number of operands: %d", function, len(arguments)))
	return false
}

func (p *parser) ifNotExists(arguments []term) term {
	if !p.checkTerms("if_not_exists", arguments) {
		return arguments[0]
	}
	source, otherwise := arguments[0].path, arguments[1]
	if source == nil {
		p.fail(everythingElse, p.invalid("Operator or function requires a document path; "+
			"operator or function: if_not_exists"))
		return otherwise
	}
	return term{value: func(item attribute.Item) (attribute.Value, error) {
		if v := source.resolve(item); v != nil {
			return v, nil
		}
		return otherwise.value(item)
	}}
}

func (p *parser) listAppend(lists []term) term {
	if !p.checkTerms("list_append", lists) {
		return lists[0]
	}
	for _, l := range lists {
		if l.known != nil && l.known.Type() != attribute.TypeList {
			p.badOperand("list_append", l.known.Type())
			break
		}
	}
	return term{known: attribute.List{}, value: func(item attribute.Item) (attribute.Value, error) {
		a, b, err := both[attribute.List](item, lists[0], lists[1])
		return slices.Concat(a, b), err
	}}
}
