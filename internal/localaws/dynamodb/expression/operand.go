package expression

import (
	"strconv"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// operand has a value for an item.
type operand interface {
	// on returns the value for the item, or nil if there is none.
	on(item attribute.Item) attribute.Value
}

// literal is the value of a placeholder.
type literal struct{ value attribute.Value }

func (l literal) on(attribute.Item) attribute.Value { return l.value }

func (p path) on(item attribute.Item) attribute.Value { return p.resolve(item) }

// sizeOf is the function size; its value is a number.
type sizeOf struct{ of operand }

func (s sizeOf) on(item attribute.Item) attribute.Value {
	n, ok := attribute.Extent(s.of.on(item))
	if !ok {
		return nil
	}
	number, _ := attribute.ParseNumber(strconv.Itoa(n))
	return number
}

// operand parses a value's placeholder, a path, or the function size of one of
// them.
func (p *parser) operand() (operand, error) {
	switch {
	case p.next.kind == valuePlace:
		v, err := p.value()
		return literal{v}, err
	case !p.atFunction():
		steps, err := p.path()
		return steps, err
	case p.next.text == "size":
		return p.size()
	}
	return nil, p.misplacedFunction()
}

// atFunction reports whether a function's name and its parenthesis come next.
func (p *parser) atFunction() bool {
	ahead := p.lexer
	t, ok := ahead.next()
	return ok && p.next.kind == word && t.is("(") && !isKeyword(p.next)
}

func (p *parser) size() (operand, error) {
	misplaced := p.misplacedFunction()
	operands, err := p.arguments(1)
	if err != nil {
		return nil, err
	}
	if _, nested := operands[0].(sizeOf); nested {
		return nil, misplaced
	}
	if l, ok := operands[0].(literal); ok {
		if _, ok := attribute.Extent(l.value); !ok {
			return nil, p.badOperand("size", l.value)
		}
	}
	return sizeOf{operands[0]}, nil
}

// openFunction skips a function's name and its parenthesis.
func (p *parser) openFunction() error {
	if err := p.operator(); err != nil {
		return err
	}
	if err := p.advance(); err != nil {
		return err
	}
	return p.expect("(")
}

// arguments parses a function's name, and its operands in parentheses.
func (p *parser) arguments(want int) ([]operand, error) {
	function := p.next.text
	if err := p.openFunction(); err != nil {
		return nil, err
	}
	operands, err := list(p, p.operand)
	if err != nil {
		return nil, err
	}
	if len(operands) != want {
		return nil, p.invalid("Incorrect number of operands for operator or function; "+
			"operator or function: %s, number of operands: %d", function, len(operands))
	}
	return operands, p.expect(")")
}

// misplacedFunction returns the error for a function that does not exist, or is
// not allowed here.
func (p *parser) misplacedFunction() error {
	name := p.next
	if functions[name.text] {
		return p.invalid("The function is not allowed to be used this way in an expression; function: %s", name.text)
	}
	return p.invalid("Invalid function name; function: %s", name.text)
}

var functions = map[string]bool{
	"size": true, "attribute_exists": true, "attribute_not_exists": true, "attribute_type": true,
	"begins_with": true, "contains": true, "if_not_exists": true, "list_append": true,
}

func (p *parser) badOperand(operator string, v attribute.Value) error {
	return p.invalid("Incorrect operand type for operator or function; "+
		"operator or function: %s, operand type: %s", operator, v.Type())
}
