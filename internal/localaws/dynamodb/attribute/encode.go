package attribute

import (
	"encoding/base64"
	"encoding/json"
)

// MarshalJSON implements [json.Marshaler].
func (s String) MarshalJSON() ([]byte, error) { return tagged(TypeString, string(s)) }

// MarshalJSON implements [json.Marshaler].
func (n Number) MarshalJSON() ([]byte, error) { return tagged(TypeNumber, n.String()) }

// MarshalJSON implements [json.Marshaler].
func (b Binary) MarshalJSON() ([]byte, error) { return tagged(TypeBinary, b.base64()) }

// MarshalJSON implements [json.Marshaler].
func (b Bool) MarshalJSON() ([]byte, error) { return tagged(TypeBool, bool(b)) }

// MarshalJSON implements [json.Marshaler].
func (Null) MarshalJSON() ([]byte, error) { return tagged(TypeNull, true) }

// MarshalJSON implements [json.Marshaler].
func (m Map) MarshalJSON() ([]byte, error) { return tagged(TypeMap, map[string]Value(m)) }

// MarshalJSON implements [json.Marshaler].
func (l List) MarshalJSON() ([]byte, error) { return tagged(TypeList, []Value(l)) }

// MarshalJSON implements [json.Marshaler].
func (s Set) MarshalJSON() ([]byte, error) {
	elements := make([]string, len(s.elements))
	for i, v := range s.elements {
		elements[i] = text(v)
	}
	return tagged(s.Type(), elements)
}

func (b Binary) base64() string { return base64.StdEncoding.EncodeToString([]byte(b)) }

// text returns a string, number or binary in its JSON form.
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

func tagged(t Type, v any) ([]byte, error) { return json.Marshal(map[Type]any{t: v}) }
