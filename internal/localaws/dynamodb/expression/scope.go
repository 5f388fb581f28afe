package expression

import (
	"maps"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// Scope holds the placeholders of a request and records which of them its
// expressions use. It is not safe for concurrent use.
type Scope struct {
	names  map[string]string
	values attribute.Item
	used   map[string]bool
	parsed bool // whether any expression was parsed
}

// NewScope returns a scope for ExpressionAttributeNames and
// ExpressionAttributeValues; nil means that the request does not have the
// parameter. Keys that are not placeholders are an error.
func NewScope(names map[string]string, values attribute.Item) (*Scope, error) {
	if err := checkPlaceholders("ExpressionAttributeNames", '#', names); err != nil {
		return nil, err
	}
	if err := checkPlaceholders("ExpressionAttributeValues", ':', values); err != nil {
		return nil, err
	}
	return &Scope{names: names, values: values, used: make(map[string]bool)}, nil
}

// CheckValueNames returns an error for a name that cannot be the placeholder of a
// value.
func CheckValueNames(names []string) error {
	return checkNames("ExpressionAttributeValues", ':', names)
}

func checkPlaceholders[V any](member string, first byte, placeholders map[string]V) error {
	if placeholders != nil && len(placeholders) == 0 {
		return attribute.Invalidf("%s must not be empty", member)
	}
	return checkNames(member, first, slices.Sorted(maps.Keys(placeholders)))
}

func checkNames(member string, first byte, names []string) error {
	for _, k := range names {
		if len(k) < 2 || k[0] != first || span(k[1:], isNamePart) != len(k)-1 {
			return attribute.Invalidf(`%s contains invalid key: Syntax error; key: "%s"`, member, k)
		}
	}
	return nil
}

// Close returns an error if a placeholder was not used by any expression.
func (s *Scope) Close() error {
	if !s.parsed {
		if s.names != nil {
			return attribute.Invalidf("ExpressionAttributeNames can only be specified when using expressions")
		}
		if s.values != nil {
			return attribute.Invalidf("ExpressionAttributeValues can only be specified when using expressions")
		}
	}
	if err := s.checkUnused("ExpressionAttributeNames", maps.Keys(s.names)); err != nil {
		return err
	}
	return s.checkUnused("ExpressionAttributeValues", maps.Keys(s.values))
}

func (s *Scope) checkUnused(member string, keys func(func(string) bool)) error {
	unused := slices.DeleteFunc(slices.Sorted(keys), func(k string) bool { return s.used[k] })
	if len(unused) > 0 {
		return attribute.Invalidf("Value provided in %s unused in expressions: keys: {%s}",
			member, strings.Join(unused, ", "))
	}
	return nil
}
