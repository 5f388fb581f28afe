package protocol

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// unmarshaler is implemented by types that decode their own members.
var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// UnknownMember returns the name of a member of a JSON text that v, or a part
// of v, does not have; empty if there is none. Names are compared with their
// case, as AWS does and [json.Unmarshal] does not. meant is the known name that
// differs from the unknown one only in case, if there is one.
func UnknownMember(text []byte, v any) (name, meant string) {
	t := reflect.TypeOf(v)
	if surelyKnown(text, t) {
		return "", ""
	}
	return unknownMember(text, t)
}

func unknownMember(text []byte, t reflect.Type) (name, meant string) {
	for t.Kind() == reflect.Pointer {
		if t.Implements(unmarshaler) {
			return "", ""
		}
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return "", ""
	}
	switch t.Kind() {
	case reflect.Struct:
		return unknownIn(text, membersOf(t))
	case reflect.Map:
		for _, part := range object(text) {
			if name, meant = unknownMember(part, t.Elem()); name != "" {
				return name, meant
			}
		}
	case reflect.Slice:
		var parts []json.RawMessage
		// A text of another shape is refused when it is decoded.
		_ = json.Unmarshal(text, &parts)
		for _, part := range parts {
			if name, meant = unknownMember(part, t.Elem()); name != "" {
				return name, meant
			}
		}
	}
	return "", ""
}

func unknownIn(text []byte, members map[string]reflect.Type) (name, meant string) {
	parts := object(text)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		t, ok := members[name]
		if !ok {
			return name, likeness(name, members)
		}
		if name, meant := unknownMember(parts[name], t); name != "" {
			return name, meant
		}
	}
	return "", ""
}

func object(text []byte) map[string]json.RawMessage {
	var parts map[string]json.RawMessage
	// A text of another shape is refused when it is decoded.
	_ = json.Unmarshal(text, &parts)
	return parts
}

// likeness returns the member whose name differs only in case, or an empty
// string.
func likeness(name string, members map[string]reflect.Type) string {
	for member := range members {
		if strings.EqualFold(member, name) {
			return member
		}
	}
	return ""
}

// membersOf returns the types of a struct's members by their JSON names.
func membersOf(t reflect.Type) map[string]reflect.Type {
	members := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			maps.Copy(members, membersOf(f.Type))
		case !f.IsExported():
		case name == "":
			members[f.Name] = f.Type
		default:
			members[name] = f.Type
		}
	}
	return members
}
