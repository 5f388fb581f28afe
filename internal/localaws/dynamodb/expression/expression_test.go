package expression_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// allNames and allValues are placeholders that the tests share. Each test uses
// those that its expression mentions.
var allNames = map[string]string{
	"#status": "status", "#in": "in", "#dot": "a.b", "#m": "m", "#n": "n", "#empty": "",
}

const allValues = `{
	":zero":{"N":"0"}, ":one":{"N":"1"}, ":two":{"N":"2"}, ":five":{"N":"5"}, ":ten":{"N":"10"}, ":ten0":{"N":"10.0"},
	":half":{"N":"0.5"}, ":big":{"N":"9E125"},
	":a":{"S":"a"}, ":he":{"S":"he"}, ":hello":{"S":"hello"}, ":S":{"S":"S"}, ":N":{"S":"N"},
	":M":{"S":"M"}, ":X":{"S":"X"},
	":b":{"B":"AQ=="}, ":true":{"BOOL":true}, ":null":{"NULL":true},
	":ss":{"SS":["x","z"]}, ":x":{"S":"x"}, ":ns":{"NS":["1"]}, ":l":{"L":[{"S":"c"}]}, ":m":{"M":{"k":{"N":"1"}}}
}`

func item(t testing.TB, body string) attribute.Item {
	t.Helper()
	var i attribute.Item
	if err := json.Unmarshal([]byte(body), &i); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return i
}

// scope returns a scope with the shared placeholders that the text mentions.
func scope(t testing.TB, text string) *expression.Scope {
	t.Helper()
	mentioned := make(map[string]bool)
	between := func(r rune) bool { return strings.ContainsRune(" \t\r\n()[].,=<>+-;", r) }
	for _, w := range strings.FieldsFunc(text, between) {
		mentioned[w] = true
	}
	var names map[string]string
	for k, v := range allNames {
		if mentioned[k] {
			if names == nil {
				names = make(map[string]string)
			}
			names[k] = v
		}
	}
	var values attribute.Item
	for k, v := range item(t, allValues) {
		if mentioned[k] {
			if values == nil {
				values = make(attribute.Item)
			}
			values[k] = v
		}
	}
	s, err := expression.NewScope(names, values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wantInvalid checks that err is a ValidationException with that message.
func wantInvalid(t testing.TB, err error, message string) {
	t.Helper()
	var refusal *protocol.Error
	if !errors.As(err, &refusal) || refusal.Code != "ValidationException" || !strings.Contains(refusal.Message, message) {
		t.Errorf("got %v, want a ValidationException with %q", err, message)
	}
}

// same reports whether two items are equal.
func same(a, b attribute.Item) bool { return attribute.Equal(attribute.Map(a), attribute.Map(b)) }

func show(t testing.TB, i attribute.Item) string {
	t.Helper()
	b, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
