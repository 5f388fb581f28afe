package jsonobject_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/jsonobject"
)

type member struct{ Name, Value string }

func scanned(text string) []member {
	var members []member
	for s := jsonobject.Scan(text); ; {
		name, ok := s.Next()
		if !ok {
			return members
		}
		members = append(members, member{name, s.Value()})
	}
}

// decoded are the members as encoding/json finds them; false for what is no object.
func decoded(text string) (members []member, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, false
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return nil, false
		}
		members = append(members, member{name.(string), string(value)})
	}
	return members, true
}

var objects = []string{
	`{}`, ` { } `, `{"a":1}`, `{"a":1,"b":true,"c":null}`, "{\n\t\"a\" : \"x\" ,\r\n \"b\" : [ 1 , 2 ] }\n",
	`{"a":{"b":{"a":1}},"c":[{"d":"}]"}]}`, `{"a":"\"","b":"\\","c":"\\\"","d":"{"}`,
	`{"a\"b":1,"\u0061":2,"":3}`, `{"a":1,"a":2,"A":3}`, `{"a":-1.5e+3,"b":false}`, `{"a":"","b":{},"c":[]}`,
	`{"ü":"😀","\ud83d\ude00":"\ud800"}`,
}

func TestMembersAreThoseOfEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, text := range objects {
		want, ok := decoded(text)
		if !ok {
			t.Fatalf("%s is no object", text)
		}
		if diff := cmp.Diff(want, scanned(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestOtherValuesHaveNoMembers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, ` `, `null`, `1`, `"a"`, `[{"a":1}]`, `"{"`} {
		if got := scanned(text); len(got) > 0 {
			t.Errorf("%q has %v", text, got)
		}
	}
}

func TestValuesMayBeLeftOut(t *testing.T) {
	t.Parallel()
	s := jsonobject.Scan(`{"a":{"x":"}"},"b":[1,"]"],"c":3}`)
	var names []string
	for {
		name, ok := s.Next()
		if !ok {
			break
		}
		names = append(names, name)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if value := s.Value(); value != "" {
		t.Errorf("behind the last member there is the value %q", value)
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range objects {
		f.Add(text)
	}
	for _, text := range []string{`{"a`, `{"a"`, `{"a":`, `{"a":"\`, `{"a":1`, `{"a":[`, `{,,}`, `{"a" 1}`, `{"\u1":1}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := scanned(text) // ends, whatever the text is
		if want, ok := decoded(text); ok && json.Valid([]byte(text)) && utf8.ValidString(text) {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", text, diff)
			}
		}
	})
}
