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

// sum parses the right side of SET: one operand, or two with + or -.
func (p *parser) sum() (evaluation, error) {
	left, err := p.term()
	if err != nil {
		return nil, err
	}
	operator := p.next.text
	if p.next.kind != symbol || operator != "+" && operator != "-" {
		return left.value, nil
	}
	if err := p.operator(); err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	right, err := p.term()
	if err != nil {
		return nil, err
	}
	return p.arithmetic(operator, left, right)
}

// term is an operand of SET. known is set if the value does not depend on the
// item.
type term struct {
	known attribute.Value
	value evaluation
}

func (p *parser) arithmetic(operator string, left, right term) (evaluation, error) {
	for _, t := range []term{left, right} {
		if t.known != nil && t.known.Type() != attribute.TypeNumber {
			return nil, p.badOperand(operator, t.known)
		}
	}
	return func(item attribute.Item) (attribute.Value, error) {
		a, b, err := both[attribute.Number](item, left, right)
		switch {
		case err != nil:
			return nil, err
		case operator == "+":
			return a.Add(b)
		default:
			return a.Sub(b)
		}
	}, nil
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

// term parses a placeholder, a path or a function.
func (p *parser) term() (term, error) {
	switch {
	case p.next.kind == valuePlace:
		v, err := p.value()
		return term{v, constant(v)}, err
	case !p.atFunction():
		source, err := p.path()
		return term{value: existing(source)}, err
	case p.next.text == "if_not_exists":
		return p.ifNotExists()
	case p.next.text == "list_append":
		return p.listAppend()
	}
	return term{}, p.misplacedFunction()
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

func (p *parser) ifNotExists() (term, error) {
	if err := p.openFunction(); err != nil {
		return term{}, err
	}
	if p.next.kind == valuePlace {
		return term{}, p.invalid("Operator or function requires a document path; operator or function: if_not_exists")
	}
	source, err := p.path()
	if err != nil {
		return term{}, err
	}
	if err := p.expect(","); err != nil {
		return term{}, err
	}
	otherwise, err := p.term()
	if err != nil {
		return term{}, err
	}
	return term{value: func(item attribute.Item) (attribute.Value, error) {
		if v := source.resolve(item); v != nil {
			return v, nil
		}
		return otherwise.value(item)
	}}, p.expect(")")
}

func (p *parser) listAppend() (term, error) {
	if err := p.openFunction(); err != nil {
		return term{}, err
	}
	lists, err := list(p, p.term)
	if err != nil {
		return term{}, err
	}
	if len(lists) != 2 {
		return term{}, p.invalid("Incorrect number of operands for operator or function; "+
			"operator or function: list_append, number of operands: %d", len(lists))
	}
	for _, l := range lists {
		if l.known != nil && l.known.Type() != attribute.TypeList {
			return term{}, p.badOperand("list_append", l.known)
		}
	}
	return term{value: func(item attribute.Item) (attribute.Value, error) {
		a, b, err := both[attribute.List](item, lists[0], lists[1])
		return slices.Concat(a, b), err
	}}, p.expect(")")
}
