package attribute

import "slices"

// Set is a collection of different strings, numbers or binaries, in the order in
// which they came. The zero Set is not valid: a set is of a type, and not empty.
type Set struct {
	of       Type // of the elements
	elements []Value
}

// NewSet makes a set of elements that are of one type and different from each other.
func NewSet(of Type, elements ...Value) Set { return Set{of: of, elements: elements} }

// Type implements [Value].
func (s Set) Type() Type { return s.of + "S" }

// Len is the number of elements.
func (s Set) Len() int { return len(s.elements) }

func (s Set) has(v Value) bool {
	return slices.ContainsFunc(s.elements, func(e Value) bool { return Equal(e, v) })
}

func (s Set) equal(t Set) bool {
	return s.Len() == t.Len() && s.Minus(t).Len() == 0
}

// Union has the elements of both, which must be of the same type.
func (s Set) Union(t Set) Set {
	return Set{of: s.of, elements: append(slices.Clone(s.elements), t.Minus(s).elements...)}
}

// Minus has the elements that are not in t, which must be of the same type. It can
// be empty, which no stored set may be.
func (s Set) Minus(t Set) Set {
	return Set{of: s.of, elements: slices.DeleteFunc(slices.Clone(s.elements), t.has)}
}
