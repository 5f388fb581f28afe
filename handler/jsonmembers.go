package handler

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// payloadType is what is known of a payload type that encoding/json decodes by
// the names of its fields.
type payloadType struct {
	name string
	// members are the names that its JSON has, in the order of the fields.
	members []string
	// distinct tells of each whether it shows that an object is of the type, since
	// none of the envelopes in notFor has it.
	distinct map[string]bool
	// notFor are the envelopes that the type is not meant for, and alike those of
	// them that have a member in common with it.
	notFor, alike []*envelopeForm
	// records is the index of the field with the records of an AWS event; nil
	// without one.
	records []int
}

// typeOfPayload is nil for types of which the names of members say nothing:
// those that decode themselves, those without fields, and all but structs.
func typeOfPayload(t reflect.Type) *payloadType {
	for ; ; t = t.Elem() {
		if decodesItself(t) {
			return nil
		}
		if t.Kind() != reflect.Pointer {
			break
		}
	}
	members := membersOf(t)
	if len(members) == 0 {
		return nil
	}
	name := "the type of the payload"
	if t.Name() != "" {
		name = t.String()
	}
	p := &payloadType{name: name, members: members, distinct: map[string]bool{}, records: recordsOf(t)}
	for i := range envelopeForms {
		f := &envelopeForms[i]
		if f.meantFor(members) {
			continue
		}
		p.notFor = append(p.notFor, f)
		if f.resembles(members) {
			p.alike = append(p.alike, f)
		}
	}
	for _, member := range members {
		p.distinct[member] = !slices.ContainsFunc(p.notFor, func(f *envelopeForm) bool { return f.has(member) })
	}
	return p
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// decodesItself reports whether encoding/json calls a method of *t, which has those
// of t too.
func decodesItself(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.Implements(jsonUnmarshaler) || pointer.Implements(textUnmarshaler)
}

// membersOf returns the names of the members that encoding/json decodes into t;
// nil if t is no struct. Of names that it ignores because two embedded structs
// have them alike, this has one.
func membersOf(t reflect.Type) []string {
	var members []string
	seen := map[reflect.Type]bool{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for field := range t.Fields() {
			name, embedded := memberOf(&field)
			switch {
			case embedded:
				add(structOf(field.Type))
			case name != "" && !slices.Contains(members, name):
				members = append(members, name)
			}
		}
	}
	add(t)
	return members
}

// memberOf is the name under which encoding/json decodes the field, empty if it
// does not; embedded tells that the fields of its struct count instead.
func memberOf(field *reflect.StructField) (name string, embedded bool) {
	tag := field.Tag.Get("json")
	if tag == "-" {
		return "", false
	}
	name, _, _ = strings.Cut(tag, ",")
	if !validName(name) {
		name = ""
	}
	group := field.Anonymous && structOf(field.Type).Kind() == reflect.Struct
	switch {
	case group && name == "":
		return "", true
	case !group && !field.IsExported():
		return "", false
	case name == "":
		return field.Name, false
	}
	return name, false
}

// structOf is the type that t points to if it is a pointer, and else t.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// validName reports whether encoding/json accepts a name in a tag: letters, digits and
// most ASCII punctuation.
func validName(name string) bool {
	for _, c := range name {
		switch {
		case unicode.IsLetter(c), unicode.IsDigit(c):
		case c < ' ', c > '~', strings.ContainsRune("\"'`\\", c):
			return false
		}
	}
	return name != ""
}

// find reports whether the type has a member of that name, as encoding/json
// matches names: exactly, or else without regard to case. distinct tells whether
// it shows that an object is of the type.
func (p *payloadType) find(name string) (known, distinct bool) {
	if distinct, known := p.distinct[name]; known {
		return true, distinct
	}
	for _, member := range p.members {
		if strings.EqualFold(member, name) {
			return true, p.distinct[member]
		}
	}
	return false, false
}

// maxListed bounds how many members of a type an error lists.
const maxListed = 5

// listed are the first members of the type, for a text.
func (p *payloadType) listed() string {
	if len(p.members) <= maxListed {
		return strings.Join(p.members, ", ")
	}
	return strings.Join(p.members[:maxListed], ", ") + ", ..."
}

// awsRecord are members of the records in AWS's events, each in some of them.
var awsRecord = []string{"eventSource", "s3", "Sns", "dynamodb", "kinesis", "ses"}

// recordsOf is the index of a field Records that has records of AWS.
func recordsOf(t reflect.Type) []int {
	field, ok := t.FieldByName("Records")
	if !ok || field.Type.Kind() != reflect.Slice {
		return nil
	}
	if name, _ := memberOf(&field); !strings.EqualFold(name, "Records") {
		return nil
	}
	for _, member := range membersOf(structOf(field.Type.Elem())) {
		if containsFold(awsRecord, member) {
			return field.Index
		}
	}
	return nil
}

// withoutRecords reports whether the decoded payload, a pointer to the type, is an
// event without any record.
func (p *payloadType) withoutRecords(payload any) bool {
	v := reflect.ValueOf(payload)
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return true
		}
		v = v.Elem()
	}
	records, err := v.FieldByIndexErr(p.records)
	return err != nil || records.Len() == 0
}
