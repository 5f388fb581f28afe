package attribute

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
)

// MarshalJSON implements [json.Marshaler]. The members are in the order of their
// names.
func (i Item) MarshalJSON() ([]byte, error) { return appendMembers(nil, i), nil }

// MarshalJSON implements [json.Marshaler]. It is there because a page has up to
// a million bytes of small items, each of which would be checked on its own.
func (is Items) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for n, i := range is {
		if n > 0 {
			b = append(b, ',')
		}
		b = appendMembers(b, i)
	}
	return append(b, ']'), nil
}

// MarshalJSON implements [json.Marshaler].
func (s String) MarshalJSON() ([]byte, error) { return s.appendJSON(nil), nil }

// MarshalJSON implements [json.Marshaler].
func (n Number) MarshalJSON() ([]byte, error) { return n.appendJSON(nil), nil }

// MarshalJSON implements [json.Marshaler].
func (b Binary) MarshalJSON() ([]byte, error) { return b.appendJSON(nil), nil }

// MarshalJSON implements [json.Marshaler].
func (b Bool) MarshalJSON() ([]byte, error) { return b.appendJSON(nil), nil }

// MarshalJSON implements [json.Marshaler].
func (n Null) MarshalJSON() ([]byte, error) { return n.appendJSON(nil), nil }

// MarshalJSON implements [json.Marshaler].
func (m Map) MarshalJSON() ([]byte, error) { return m.appendJSON(nil), nil }

// MarshalJSON implements [json.Marshaler].
func (l List) MarshalJSON() ([]byte, error) { return l.appendJSON(nil), nil }

// MarshalJSON implements [json.Marshaler].
func (s Set) MarshalJSON() ([]byte, error) { return s.appendJSON(nil), nil }

func (s String) appendJSON(b []byte) []byte {
	return append(appendText(opened(b, TypeString), string(s)), '}')
}

func (n Number) appendJSON(b []byte) []byte {
	return append(appendPlain(opened(b, TypeNumber), n.String()), '}')
}

func (b Binary) appendJSON(to []byte) []byte {
	return append(appendPlain(opened(to, TypeBinary), b.base64()), '}')
}

func (b Bool) appendJSON(to []byte) []byte {
	if b {
		return append(opened(to, TypeBool), "true}"...)
	}
	return append(opened(to, TypeBool), "false}"...)
}

func (Null) appendJSON(b []byte) []byte { return append(opened(b, TypeNull), "true}"...) }

func (m Map) appendJSON(b []byte) []byte { return append(appendMembers(opened(b, TypeMap), m), '}') }

func (l List) appendJSON(b []byte) []byte {
	return append(appendList(opened(b, TypeList), l, func(b []byte, v Value) []byte { return v.appendJSON(b) }), '}')
}

func (s Set) appendJSON(b []byte) []byte {
	return append(appendList(opened(b, s.Type()), s.elements, func(b []byte, v Value) []byte {
		if text, ok := v.(String); ok {
			return appendText(b, string(text))
		}
		return appendPlain(b, text(v))
	}), '}')
}

// opened begins the JSON form of a value.
func opened(b []byte, t Type) []byte {
	b = append(b, `{"`...)
	b = append(b, t...)
	return append(b, `":`...)
}

func appendMembers(b []byte, members map[string]Value) []byte {
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, name), ':')
		b = members[name].appendJSON(b)
	}
	return append(b, '}')
}

func appendList(b []byte, values []Value, element func([]byte, Value) []byte) []byte {
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = element(b, v)
	}
	return append(b, ']')
}

// appendPlain appends a text in which nothing has to be escaped.
func appendPlain(b []byte, text string) []byte {
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"')
}

func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(text) // a string can be marshaled
			return append(b, quoted...)
		}
	}
	return appendPlain(b, text)
}

func (b Binary) base64() string { return base64.StdEncoding.EncodeToString([]byte(b)) }

// Text returns a string, number or binary as it is in its JSON form, and an empty
// string for a value of another type.
func Text(v Value) string { return text(v) }

func text(v Value) string {
	switch v := v.(type) {
	case String:
		return string(v)
	case Number:
		return v.String()
	case Binary:
		return v.base64()
	}
	return ""
}
