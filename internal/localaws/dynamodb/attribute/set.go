package attribute

import "slices"

// Set is a collection of distinct strings, numbers or binaries, in the order in
// which they were given. The zero Set is not valid: a set has a type and is not
// empty.
type Set struct {
	of       Type // the type of the elements
	elements []Value
}

// NewSet returns a set of elements, which must be distinct and of one type.
func NewSet(of Type, elements ...Value) Set { return Set{of: of, elements: elements} }

// Type implements [Value].
func (s Set) Type() Type { return s.of + "S" }

// Len returns the number of elements.
func (s Set) Len() int { return len(s.elements) }

func (s Set) has(v Value) bool {
	return slices.ContainsFunc(s.elements, func(e Value) bool { return Equal(e, v) })
}

func (s Set) equal(t Set) bool {
	return s.Len() == t.Len() && s.Minus(t).Len() == 0
}

// Union returns a set with the elements of both sets, which must be of the same
// type.
func (s Set) Union(t Set) Set {
	return Set{of: s.of, elements: append(slices.Clone(s.elements), t.Minus(s).elements...)}
}

// Minus returns a set with the elements that are not in t, which must be of the
// same type. It can be empty, but an empty set must not be stored.
func (s Set) Minus(t Set) Set {
	return Set{of: s.of, elements: slices.DeleteFunc(slices.Clone(s.elements), t.has)}
}
