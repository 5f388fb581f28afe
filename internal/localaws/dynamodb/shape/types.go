package shape

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// place says what contains a value: AWS's messages depend on it.
type place int

const (
	member    place = iota // of a struct
	element                // of a list or a map
	container              // a list or map in a list or map
)

var (
	itemType  = reflect.TypeFor[attribute.Item]()
	valueType = reflect.TypeFor[attribute.Value]()
	anyType   = reflect.TypeFor[attribute.Any]()
)

// checkType returns an error if a JSON value does not have the shape of t.
func checkType(v any, t reflect.Type, r rules, at place) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if v == nil {
		return nil
	}
	if r.item {
		t = itemType
	}
	switch t {
	case itemType:
		return checkMap(v, "com.amazonaws.dynamodb.v20120810.AttributeValue", at, checkAttribute)
	case valueType, anyType:
		return checkAttribute(v, at)
	}
	switch t.Kind() {
	case reflect.String:
		return checkScalar(v, "String")
	case reflect.Bool:
		return checkScalar(v, "Boolean")
	case reflect.Int, reflect.Int64, reflect.Float64:
		if r.long {
			return checkScalar(v, "Long")
		}
		return checkScalar(v, "Integer")
	case reflect.Slice:
		within := element
		if t.Elem().Kind() == reflect.Map {
			within = container
		}
		return checkList(v, at, func(e any) error { return checkType(e, t.Elem(), r.elements(), within) })
	case reflect.Map:
		return checkMap(v, nameOf(t.Elem(), r), at, func(e any, at place) error {
			if t.Elem().Kind() == reflect.Slice {
				at = container
			}
			return checkType(e, t.Elem(), r.elements(), at)
		})
	case reflect.Struct:
		return checkStruct(v, t, r, at)
	}
	return nil
}

// nameOf returns what AWS calls the type of the values of a map.
func nameOf(t reflect.Type, r rules) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == valueType {
		return "com.amazonaws.dynamodb.v20120810.AttributeValue"
	}
	switch t.Kind() {
	case reflect.String:
		return "java.lang.String"
	case reflect.Slice:
		return "java.util.List<com.amazonaws.dynamodb.v20120810." + r.is + ">"
	default:
		return "com.amazonaws.dynamodb.v20120810." + r.is
	}
}

func checkStruct(v any, t reflect.Type, r rules, at place) error {
	members, ok := v.(map[string]any)
	if !ok {
		return notComposite(v, "class com.amazonaws.dynamodb.v20120810."+r.is, at)
	}
	for _, f := range fieldsOf(t) {
		if err := checkType(members[f.name], f.typ, f.rules, member); err != nil {
			return err
		}
	}
	return nil
}

func checkList(v any, at place, check func(any) error) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := check(e); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		return startOfStructure()
	}
	return notComposite(v, "", at)
}

func checkMap(v any, of string, at place, check func(any, place) error) error {
	members, ok := v.(map[string]any)
	if !ok {
		return notComposite(v, "java.util.Map<java.lang.String, "+of+">", at)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := check(members[name], element); err != nil {
			return err
		}
	}
	return nil
}

// attributeMembers are the members of an attribute value with the checks of
// their values.
var attributeMembers = []struct {
	name  string
	check func(any) error
}{
	{"S", isString},
	{"N", isString},
	{"B", checkBlob},
	{"BOOL", func(v any) error { return checkScalar(v, "Boolean") }},
	{"NULL", func(v any) error { return checkScalar(v, "Boolean") }},
	{"SS", listOf(isString)},
	{"NS", listOf(isString)},
	{"BS", listOf(checkBlob)},
}

func isString(v any) error { return checkScalar(v, "String") }

func listOf(check func(any) error) func(any) error {
	return func(v any) error { return checkList(v, member, check) }
}

func checkAttribute(v any, at place) error {
	if v == nil {
		return nil
	}
	members, ok := v.(map[string]any)
	if !ok {
		return notComposite(v, "class com.amazonaws.dynamodb.v20120810.AttributeValue", at)
	}
	for _, m := range attributeMembers {
		if v := members[m.name]; v != nil {
			if err := m.check(v); err != nil {
				return err
			}
		}
	}
	if l := members["L"]; l != nil {
		if err := checkList(l, member, func(v any) error { return checkAttribute(v, element) }); err != nil {
			return err
		}
	}
	if m := members["M"]; m != nil {
		return checkMap(m, "com.amazonaws.dynamodb.v20120810.AttributeValue", member, checkAttribute)
	}
	return nil
}

// checkScalar checks a string, a number or a boolean by the name of its type in
// AWS's messages.
func checkScalar(v any, name string) error {
	is := "number"
	switch name {
	case "String":
		is = "string"
	case "Boolean":
		is = "bool"
	}
	var got string
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		if is == "bool" {
			if isBoolean(v) {
				return nil
			}
			return serialization("Unexpected token received from parser")
		}
		got, is = "STRING_VALUE", mismatch(is, "string")
	case bool:
		got, is = strings.ToUpper(fmt.Sprint(v))+"_VALUE", mismatch(is, "bool")
	case json.Number:
		got, is = "NUMBER_VALUE", mismatch(is, "number")
		if _, err := v.Int64(); err != nil {
			got = "DECIMAL_VALUE"
		}
	default:
		return notComposite(v, "class java.lang."+name, member)
	}
	if is == "" {
		return nil
	}
	return serialization("%s cannot be converted to %s", got, name)
}

// isBoolean reports whether a string is taken as a boolean.
func isBoolean(s string) bool {
	switch strings.ToUpper(s) {
	case "TRUE", "FALSE", "YES", "NO", "1", "0":
		return true
	}
	return false
}

// mismatch returns the wanted type if a value does not have it, otherwise an empty string.
func mismatch(want, got string) string {
	if want == got {
		return ""
	}
	return want
}

func checkBlob(v any) error {
	s, ok := v.(string)
	switch {
	case ok && len(s)%4 != 0:
		return serialization("Base64 encoded length is expected a multiple of 4 bytes but found: %d", len(s))
	case ok:
		if _, err := base64.StdEncoding.Strict().DecodeString(s); err != nil {
			// The word is spelled as AWS spells it.
			return serialization("Invalid last non-pad Base64 character dectected")
		}
		return nil
	}
	switch v.(type) {
	case nil:
		return nil
	case bool, json.Number:
		return serialization("only base-64-encoded strings are convertible to bytes")
	}
	return notComposite(v, "class java.nio.ByteBuffer", member)
}

// notComposite returns the error for a value that is no list, map or struct
// although one of AWS's type is expected, or is one of another kind.
func notComposite(v any, expected string, at place) error {
	switch v.(type) {
	case []any:
		return serialization("Unrecognized collection type %s", expected)
	case map[string]any:
		return startOfStructure()
	}
	switch at {
	case element:
		return serialization("Unexpected value type in payload")
	case container:
		return serialization("class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to " +
			"class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class " +
			"are in module java.base of loader 'bootstrap')")
	default:
		return serialization("Unexpected field type")
	}
}

func startOfStructure() error {
	return serialization("Start of structure or map found where not expected")
}

func serialization(format string, args ...any) error {
	return &protocol.Error{Code: "SerializationException", Message: fmt.Sprintf(format, args...)}
}
