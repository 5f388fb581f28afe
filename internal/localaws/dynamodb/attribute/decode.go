package attribute

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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
	if t, text, ok := plain(data); ok {
		if t == TypeString {
			return String(text), nil
		}
		return ParseNumber(text)
	}
	var raw map[Type]json.RawMessage
	if err := unmarshal(data, &raw); err != nil {
		return nil, err
	}
	var found Value
	n := 0
	for _, t := range Types {
		r, ok := raw[t]
		if !ok {
			continue
		}
		v, err := decodeAs(t, r, depth)
		if err != nil {
			return nil, err
		}
		found, n = v, n+1
	}
	switch n {
	case 0:
		return nil, Invalidf("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	case 1:
		return found, nil
	}
	return nil, Invalidf("Supplied AttributeValue has more than one datatypes set, " +
		"must contain exactly one of the supported datatypes")
}

// plain reads a string or number of the form in which most of them come, {"S":"..."}.
func plain(data []byte) (t Type, text string, ok bool) {
	const begin, end = `{"S":"`, `"}`
	if len(data) < len(begin+end) || string(data[:2]) != begin[:2] || string(data[3:6]) != begin[3:] ||
		string(data[len(data)-2:]) != end {
		return t, "", false
	}
	t = Type(data[2:3])
	raw := data[len(begin) : len(data)-len(end)]
	for _, c := range raw {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return t, "", false
		}
	}
	return t, string(raw), t == TypeString || t == TypeNumber
}

func decodeAs(t Type, data []byte, depth int) (Value, error) {
	switch t {
	case TypeList:
		return decodeList(data, depth+1)
	case TypeMap:
		m, err := decodeMembers(data, depth+1)
		return Map(m), err
	}
	return decoders[t](data)
}

var decoders = map[Type]func([]byte) (Value, error){
	TypeString:    decodeString,
	TypeNumber:    decodeNumber,
	TypeBinary:    decodeBinary,
	TypeBool:      decodeBool,
	TypeNull:      decodeNull,
	TypeStringSet: func(data []byte) (Value, error) { return decodeSet(data, TypeString, decodeString) },
	TypeNumberSet: func(data []byte) (Value, error) { return decodeSet(data, TypeNumber, decodeNumber) },
	TypeBinarySet: func(data []byte) (Value, error) { return decodeSet(data, TypeBinary, decodeBinary) },
}

// The messages for empty sets and for sets with duplicates (with the listing of
// the set), spelled as AWS spells them.
var (
	emptySets = map[Type]string{
		TypeString: "An string set  may not be empty", TypeNumber: "An number set  may not be empty",
		TypeBinary: "Binary sets should not be empty",
	}
	duplicates = map[Type]string{
		TypeString: "One or more parameter values were invalid: Input collection %s contains duplicates.",
		TypeNumber: "Input collection contains duplicates",
		TypeBinary: "One or more parameter values were invalid: Input collection %sof type BS contains duplicates.",
	}
)

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

// decodeBool decodes a boolean, which can be a string.
func decodeBool(data []byte) (Value, error) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return Bool(slices.Contains([]string{"TRUE", "YES", "1"}, strings.ToUpper(text))), nil
	}
	var b bool
	err := unmarshal(data, &b)
	return Bool(b), err
}

func decodeNull(data []byte) (Value, error) {
	b, err := decodeBool(data)
	if err != nil {
		return nil, err
	}
	if b == Bool(false) {
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

func decodeSet(data []byte, of Type, decode func([]byte) (Value, error)) (Value, error) {
	var raw []json.RawMessage
	if err := unmarshal(data, &raw); err != nil {
		return nil, err
	}
	if len(raw) == 0 {
		return nil, badParameter("%s", emptySets[of])
	}
	s := Set{of: of}
	seen := make(map[string]bool, len(raw))
	for _, r := range raw {
		v, err := decode(r)
		if err != nil {
			return nil, err
		}
		if seen[text(v)] {
			return nil, Invalidf("%s", strings.Replace(duplicates[of], "%s", listing(raw), 1))
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
