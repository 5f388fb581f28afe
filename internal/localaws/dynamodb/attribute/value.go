package attribute

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Type is the name of a type in the JSON form of a value.
type Type string

// The ten types.
const (
	TypeString    Type = "S"
	TypeNumber    Type = "N"
	TypeBinary    Type = "B"
	TypeBool      Type = "BOOL"
	TypeNull      Type = "NULL"
	TypeStringSet Type = "SS"
	TypeNumberSet Type = "NS"
	TypeBinarySet Type = "BS"
	TypeList      Type = "L"
	TypeMap       Type = "M"
)

// Types lists the ten types.
var Types = []Type{
	TypeString, TypeNumber, TypeBinary, TypeBool, TypeNull,
	TypeStringSet, TypeNumberSet, TypeBinarySet, TypeList, TypeMap,
}

// Value is one of [String], [Number], [Binary], [Bool], [Null], [Set], [List]
// and [Map].
type Value interface {
	// Type returns the name of the value's type.
	Type() Type
	// size returns the number of bytes that the value adds to its item.
	size() int
	// appendJSON appends the value's JSON form.
	appendJSON(b []byte) []byte
}

type (
	// String is a text, compared by its bytes.
	String string
	// Binary is a byte string. It is stored in a string so that nobody can
	// change it.
	Binary string
	// Bool is a boolean.
	Bool bool
	// Null is the value of type NULL.
	Null struct{}
	// List is an ordered collection of values of any types.
	List []Value
	// Map is a collection of named values.
	Map map[string]Value
	// Item is an item of a table: attributes by name.
	Item map[string]Value
	// Items are the items of a page.
	Items []Item
)

// Type implements [Value].
func (String) Type() Type { return TypeString }

// Type implements [Value].
func (Number) Type() Type { return TypeNumber }

// Type implements [Value].
func (Binary) Type() Type { return TypeBinary }

// Type implements [Value].
func (Bool) Type() Type { return TypeBool }

// Type implements [Value].
func (Null) Type() Type { return TypeNull }

// Type implements [Value].
func (List) Type() Type { return TypeList }

// Type implements [Value].
func (Map) Type() Type { return TypeMap }

// Equal reports whether two values have the same type and content. The order of
// a set's elements does not matter. A nil value, of a missing attribute, equals
// nothing.
func Equal(a, b Value) bool {
	if a == nil || b == nil || a.Type() != b.Type() {
		return false
	}
	switch a := a.(type) {
	case Number:
		return a.Cmp(b.(Number)) == 0
	case Set:
		return a.equal(b.(Set))
	case List:
		return slices.EqualFunc(a, b.(List), Equal)
	case Map:
		return maps.EqualFunc(a, b.(Map), Equal)
	default:
		return a == b
	}
}

// Compare orders two strings, numbers or binaries. ok is false for other types,
// for values of different types and for missing values.
func Compare(a, b Value) (order int, ok bool) {
	switch a := a.(type) {
	case String:
		b, ok := b.(String)
		return cmp.Compare(a, b), ok
	case Binary:
		b, ok := b.(Binary)
		return cmp.Compare(a, b), ok
	case Number:
		b, ok := b.(Number)
		return a.Cmp(b), ok
	}
	return 0, false
}

// HasPrefix reports whether a string or binary begins with another of its type.
func HasPrefix(v, prefix Value) bool {
	switch v := v.(type) {
	case String:
		p, ok := prefix.(String)
		return ok && strings.HasPrefix(string(v), string(p))
	case Binary:
		p, ok := prefix.(Binary)
		return ok && strings.HasPrefix(string(v), string(p))
	}
	return false
}

// LastWithPrefix returns a string or binary that is not less than any key with
// the prefix. Keys have at most 2048 bytes.
func LastWithPrefix(prefix Value) Value {
	switch v := prefix.(type) {
	case String:
		return v + String(afterAnyKey)
	case Binary:
		return v + Binary(afterAnyKey)
	}
	return prefix
}

var afterAnyKey = strings.Repeat("\xff", 2049)

// Contains reports whether a string or binary contains the part, or a set or
// list the element.
func Contains(v, part Value) bool {
	switch v := v.(type) {
	case String:
		p, ok := part.(String)
		return ok && strings.Contains(string(v), string(p))
	case Binary:
		p, ok := part.(Binary)
		return ok && bytes.Contains([]byte(v), []byte(p))
	case Set:
		return v.has(part)
	case List:
		return slices.ContainsFunc(v, func(e Value) bool { return Equal(e, part) })
	}
	return false
}
