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
