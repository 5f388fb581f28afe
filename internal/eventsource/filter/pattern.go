package filter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// object is a pattern for an object: all its fields must match, and one
// alternative of each $or.
type object struct {
	fields []field
	either [][]*object
}

// field is a pattern for one member: rules for its value, or a pattern for the
// object that is its value.
type field struct {
	name  string
	rules []rule
	inner *object
}

const or = "$or"

func parseObject(path string, members map[string]json.RawMessage) (*object, error) {
	if len(members) == 0 {
		return nil, fmt.Errorf("%san empty object matches nothing: name a member", prefixed(path))
	}
	o := &object{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name == or {
			alternatives, err := parseOr(path, members[name])
			if err != nil {
				return nil, err
			}
			o.either = append(o.either, alternatives)
			continue
		}
		f, err := parseField(join(path, name), name, members[name])
		if err != nil {
			return nil, err
		}
		o.fields = append(o.fields, f)
	}
	return o, nil
}

func parseField(path, name string, value json.RawMessage) (field, error) {
	f := field{name: name}
	switch value[0] {
	case '{':
		var members map[string]json.RawMessage
		_ = json.Unmarshal(value, &members) // cannot fail: an object of a valid document
		var err error
		f.inner, err = parseObject(path, members)
		return f, err
	case '[':
		var items []json.RawMessage
		_ = json.Unmarshal(value, &items) // cannot fail: a list of a valid document
		if len(items) == 0 {
			return f, fmt.Errorf("%s: an empty list matches nothing: write a value or a rule", path)
		}
		for _, item := range items {
			r, err := parseRule(bytes.TrimSpace(item))
			if err != nil {
				return f, fmt.Errorf("%s: %w", path, err)
			}
			f.rules = append(f.rules, r)
		}
		return f, nil
	}
	return f, fmt.Errorf("%s: %.40s stands alone: write a list, as in [%.40s]", path, value, value)
}

func parseOr(path string, value json.RawMessage) ([]*object, error) {
	var items []map[string]json.RawMessage
	if json.Unmarshal(value, &items) != nil || len(items) < 2 {
		return nil, fmt.Errorf("%s$or takes a list of two or more objects", prefixed(path))
	}
	alternatives := make([]*object, 0, len(items))
	for _, members := range items {
		o, err := parseObject(path, members)
		if err != nil {
			return nil, err
		}
		alternatives = append(alternatives, o)
	}
	return alternatives, nil
}

// join formats the path of a member in one line, whatever its characters.
func join(path, name string) string {
	name = strings.Trim(strconv.Quote(name), `"`)
	if path == "" {
		return name
	}
	return path + "." + name
}

func prefixed(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}

// rule is one of a list of rules for a value.
type rule interface {
	// accepts reports whether the rule accepts a single value: nil, a bool, a
	// string or a json.Number.
	accepts(v any) bool
}

func parseRule(item json.RawMessage) (rule, error) {
	switch item[0] {
	case '[':
		return nil, errors.New("a list within the list of rules: write its values side by side")
	case '{':
		var members map[string]json.RawMessage
		_ = json.Unmarshal(item, &members) // cannot fail: an object of a valid document
		return parseOperator(members)
	}
	return exact{scalar(item)}, nil
}

// scalar decodes a value that is neither a list nor an object.
func scalar(item json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(item))
	d.UseNumber()
	var v any
	_ = d.Decode(&v) // cannot fail: a value of a valid document
	return v
}
