package expression

import (
	"strconv"
	"unicode/utf16"

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
	v := s.of.on(item)
	n, ok := attribute.Extent(v)
	if !ok {
		return nil
	}
	if text, isText := v.(attribute.String); isText {
		n = 0
		for _, r := range string(text) {
			n += utf16.RuneLen(r) // DynamoDB counts as Java does
		}
	}
	number, _ := attribute.ParseNumber(strconv.Itoa(n))
	return number
}
