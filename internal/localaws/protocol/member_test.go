package protocol_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

type base struct {
	QueueURL string `json:"QueueUrl"`
}

type part struct{ Name string }

type request struct {
	base
	Tags  map[string]string `json:"tags,omitempty"`
	One   *part
	List  []part
	Named map[string]part
	At    *protocol.Timestamp
	Raw   json.RawMessage
	Any   any
	inner string
}

func TestUnknownMember(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"QueueUrl":"q","tags":{"any":"v"},"At":1,"Raw":{"x":1},"Any":{"x":1}}`: " ",
		`{"One":{"Name":"n"},"List":[{"Name":"n"}],"Named":{"k":{"Name":"n"}}}`:  " ",
		`{"One":null,"List":null,"Named":null,"At":null}`:                        " ",
		`{"queueurl":"q"}`:                "queueurl QueueUrl",
		`{"QueueURL":"q"}`:                "QueueURL QueueUrl",
		`{"Tags":{}}`:                     "Tags tags",
		`{"Other":1}`:                     "Other ",
		`{"inner":"x"}`:                   "inner ",
		`{"base":{}}`:                     "base ",
		`{"One":{"name":"n"}}`:            "name Name",
		`{"List":[{},{"x":1}]}`:           "x ",
		`{"Named":{"name":{"NAME":"n"}}}`: "NAME Name",
		`{"List":{"x":1},"One":[1]}`:      " ",
		`{"Tags":1,"Other":1}`:            "Other ",
	} {
		in := request{inner: "unread"}
		name, meant := protocol.UnknownMember([]byte(body), &in)
		if got := name + " " + meant; got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

func TestDecodeNamesTheUnknownMember(t *testing.T) {
	t.Parallel()
	for body, message := range map[string]string{
		`{"name":"a"}`:            "does not implement the parameter name of Op; names are case-sensitive, and there is Name",
		`{"Name":"a","name":"b"}`: "the parameter name of Op",
		`{"Name":"a","Other":1}`:  "does not implement the parameter Other of Op",
	} {
		var in part
		err := (&protocol.Request{Operation: "Op", Body: []byte(body)}).Decode(&in)
		e, ok := errors.AsType[*protocol.Error](err)
		if !ok || e.Code != "ValidationException" || !strings.Contains(e.Message, message) {
			t.Errorf("%s: got %v, want %q", body, err, message)
		}
	}
}
