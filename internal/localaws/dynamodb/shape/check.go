package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// Object returns the members of a JSON object, with numbers as [json.Number], or a
// SerializationException.
func Object(body []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return nil, serialization("the request is not JSON: %v", err)
	}
	members, ok := v.(map[string]any)
	if !ok {
		return nil, serialization("Start of structure expected: the request is not a JSON object")
	}
	return members, nil
}

// Types returns a SerializationException for the first member that does not have
// the type that the struct type t says.
func Types(members map[string]any, t reflect.Type) error {
	return checkStruct(members, t, rules{}, member)
}

// Rules returns a ValidationException with the first 10 violations of the rules of
// the struct type t. [Types] must have checked the members.
func Rules(members map[string]any, t reflect.Type) error {
	var found violations
	found.members(members, t, "")
	if len(found) == 0 {
		return nil
	}
	found = found[:min(len(found), maxViolations)]
	plural := "s"
	if len(found) == 1 {
		plural = ""
	}
	return attribute.Invalidf("%d validation error%s detected: %s", len(found), plural, strings.Join(found, "; "))
}

// maxViolations is how many violations AWS reports at once.
const maxViolations = 10

// violations are the messages for what breaks a rule.
type violations []string

func (v *violations) add(value any, path, rule string) {
	shown := "null"
	if value != nil {
		shown = "'" + show(value) + "'"
	}
	*v = append(*v, fmt.Sprintf("Value %s at '%s' failed to satisfy constraint: %s", shown, path, rule))
}

func show(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	text, _ := json.Marshal(value) // it was decoded from JSON
	return string(text)
}

func (v *violations) members(members map[string]any, t reflect.Type, path string) {
	for _, f := range fieldsOf(t) {
		if value := members[f.name]; value != nil || f.rules.required {
			v.value(value, f.typ, f.rules, path+f.path)
		}
	}
}

func (v *violations) value(value any, t reflect.Type, r rules, path string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if value == nil {
		if r.required {
			v.add(nil, path, "Member must not be null")
		}
		return
	}
	switch value := value.(type) {
	case string:
		v.text(value, r, path)
	case json.Number:
		v.number(value, r, path)
	case []any:
		v.size(value, len(value), r, path)
		for i, e := range value {
			v.value(e, elementOf(t), r.elements(), fmt.Sprintf("%s.%d.member", path, i+1))
		}
	case map[string]any:
		v.object(value, t, r, path)
	}
}

// elementOf returns the type of the elements of a list or map.
func elementOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		return t.Elem()
	}
	return t
}

func (v *violations) object(value map[string]any, t reflect.Type, r rules, path string) {
	switch {
	case t == itemType || t == valueType || t == anyType:
		v.size(value, len(value), r, path)
	case t.Kind() == reflect.Struct:
		v.members(value, t, path+".")
	case t.Kind() == reflect.Map:
		v.size(value, len(value), r, path)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if r.keys != nil && !r.keys.keyOK(name) {
				v.add(value, path, "Map keys must satisfy constraint: "+r.keys.describe())
			}
			if l, ok := value[name].([]any); ok && r.values != nil && !r.values.contains(len(l)) {
				v.add(value, path, "Map value must satisfy constraint: ["+r.values.describe()+"]")
			}
			v.value(value[name], t.Elem(), r.elements(), path+"."+name+".member")
		}
	}
}

func (v *violations) text(value string, r rules, path string) {
	if r.table && strings.HasPrefix(value, "arn:") {
		return
	}
	if r.name && !isName(value) {
		v.add(value, path, "Member must satisfy regular expression pattern: "+namePattern)
	}
	if r.length != nil {
		v.size(value, utf8.RuneCountInString(value), r, path)
	}
	if r.enum != nil && !slices.Contains(r.enum, value) {
		v.add(value, path, "Member must satisfy enum value set: ["+strings.Join(r.enum, ", ")+"]")
	}
}

func (v *violations) number(value json.Number, r rules, path string) {
	n, err := value.Int64()
	if r.value == nil || err != nil {
		return
	}
	if n < r.value.low {
		v.add(value, path, fmt.Sprintf("Member must have value greater than or equal to %d", r.value.low))
	}
	if n > r.value.high {
		v.add(value, path, fmt.Sprintf("Member must have value less than or equal to %d", r.value.high))
	}
}

func (v *violations) size(value any, n int, r rules, path string) {
	if r.length == nil {
		return
	}
	if int64(n) < r.length.low {
		v.add(value, path, fmt.Sprintf("Member must have length greater than or equal to %d", r.length.low))
	}
	if int64(n) > r.length.high {
		v.add(value, path, fmt.Sprintf("Member must have length less than or equal to %d", r.length.high))
	}
}

// namePattern is what AWS's messages say of names.
const namePattern = "[a-zA-Z0-9_.-]+"

func isName(s string) bool {
	for _, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return s != ""
}

func (r rules) keyOK(key string) bool {
	if r.table && strings.HasPrefix(key, "arn:") {
		return true
	}
	return (r.length == nil || r.length.contains(utf8.RuneCountInString(key))) && (!r.name || isName(key))
}

func (r rules) describe() string {
	return "[" + r.length.describe() + ", Member must satisfy regular expression pattern: " + namePattern + "]"
}

func (b bounds) contains(n int) bool { return int64(n) >= b.low && int64(n) <= b.high }

func (b bounds) describe() string {
	return fmt.Sprintf("Member must have length less than or equal to %d, "+
		"Member must have length greater than or equal to %d", b.high, b.low)
}
