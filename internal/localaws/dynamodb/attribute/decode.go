package attribute

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// maxDepth is the deepest nesting of lists and maps that DynamoDB accepts.
const maxDepth = 32

// UnmarshalJSON implements [json.Unmarshaler]. Its errors are of type
// [*protocol.Error], with DynamoDB's message for such a value.
func (i *Item) UnmarshalJSON(data []byte) error {
	m, err := decodeMembers(data, 0)
	*i = m
	return err
}

func decodeMembers(data []byte, depth int) (map[string]Value, error) {
	var raw map[string]json.RawMessage
	if err := unmarshal(data, &raw); err != nil || raw == nil {
		return nil, err
	}
	members := make(map[string]Value, len(raw))
	for name, r := range raw {
		v, err := decodeValue(r, depth)
		if err != nil {
			return nil, err
		}
		members[name] = v
	}
	return members, nil
}

func decodeValue(data []byte, depth int) (Value, error) {
	if depth > maxDepth {
		return nil, Invalidf("Nesting Levels have exceeded supported limits: "+
			"Attributes of an item can be nested up to %d levels", maxDepth)
	}
	var raw map[Type]json.RawMessage
	if err := unmarshal(data, &raw); err != nil {
		return nil, err
	}
	if len(raw) > 1 {
		return nil, Invalidf("Supplied AttributeValue has more than one datatypes set, " +
			"must contain exactly one of the supported datatypes")
	}
	for t, r := range raw {
		if decode, ok := decoders[t]; ok {
			return decode(r)
		}
		switch t {
		case TypeList:
			return decodeList(r, depth+1)
		case TypeMap:
			m, err := decodeMembers(r, depth+1)
			return Map(m), err
		}
	}
	return nil, Invalidf("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
}

var decoders = map[Type]func([]byte) (Value, error){
	TypeString:    decodeString,
	TypeNumber:    decodeNumber,
	TypeBinary:    decodeBinary,
	TypeBool:      decodeBool,
	TypeNull:      decodeNull,
	TypeStringSet: func(data []byte) (Value, error) { return decodeSet(data, TypeString, "string", decodeString) },
	TypeNumberSet: func(data []byte) (Value, error) { return decodeSet(data, TypeNumber, "number", decodeNumber) },
	TypeBinarySet: func(data []byte) (Value, error) { return decodeSet(data, TypeBinary, "binary", decodeBinary) },
}

func decodeString(data []byte) (Value, error) {
	var s string
	err := unmarshal(data, &s)
	return String(s), err
}

func decodeNumber(data []byte) (Value, error) {
	var s string
	if err := unmarshal(data, &s); err != nil {
		return nil, err
	}
	return ParseNumber(s)
}

func decodeBinary(data []byte) (Value, error) {
	var s string
	if err := unmarshal(data, &s); err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, serialization(err)
	}
	return Binary(b), nil
}

func decodeBool(data []byte) (Value, error) {
	var b bool
	err := unmarshal(data, &b)
	return Bool(b), err
}

func decodeNull(data []byte) (Value, error) {
	var b bool
	if err := unmarshal(data, &b); err != nil {
		return nil, err
	}
	if !b {
		return nil, badParameter("Null attribute value types must have the value of true")
	}
	return Null{}, nil
}

func decodeList(data []byte, depth int) (Value, error) {
	var raw []json.RawMessage
	if err := unmarshal(data, &raw); err != nil {
		return nil, err
	}
	l := make(List, len(raw))
	for i, r := range raw {
		v, err := decodeValue(r, depth)
		if err != nil {
			return nil, err
		}
		l[i] = v
	}
	return l, nil
}

func decodeSet(data []byte, of Type, name string, decode func([]byte) (Value, error)) (Value, error) {
	var raw []json.RawMessage
	if err := unmarshal(data, &raw); err != nil {
		return nil, err
	}
	if len(raw) == 0 {
		return nil, badParameter("An %s set may not be empty", name)
	}
	s := Set{of: of}
	seen := make(map[string]bool, len(raw))
	for _, r := range raw {
		v, err := decode(r)
		if err != nil {
			return nil, err
		}
		if seen[text(v)] {
			return nil, badParameter("Input collection %s contains duplicates.", listing(raw))
		}
		seen[text(v)] = true
		s.elements = append(s.elements, v)
	}
	return s, nil
}

// listing formats the elements of a set like DynamoDB's messages: [a, b].
func listing(raw []json.RawMessage) string {
	elements := make([]string, len(raw))
	for i, r := range raw {
		elements[i] = strings.Trim(string(r), `"`)
	}
	return "[" + strings.Join(elements, ", ") + "]"
}

func unmarshal(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return serialization(err)
	}
	return nil
}

func serialization(err error) error {
	return &protocol.Error{Code: "SerializationException", Message: fmt.Sprintf("attribute value: %v", err)}
}
