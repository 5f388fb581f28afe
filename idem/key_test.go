package idem_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

func TestJSONField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, body, key, complaint string }{
		{path: "id", body: `{"id":"ch-1"}`, key: "ch-1"},
		{path: "order.id", body: ` { "order" : {"id": "o\u0031" } } `, key: "o1"},
		{path: "id", body: `{"id":12345678901234567890.10}`, key: "12345678901234567890.10"},
		{path: "id", body: `{"id":0}`, key: "0"},
		{path: "id", body: `{"id":1.0}`, key: "1.0"},
		{path: "id", body: `{"id":-0}`, key: "-0"},
		{path: "id", body: `{"id":1e400}`, key: "1e400"},
		{path: "id", body: `{"id":" "}`, key: " "},
		{path: "id", body: `{"id":"tenant#7"}`, key: "tenant#7"},
		{path: "id", body: `{"id":"a","id":"a"}`, key: "a"},
		{path: "id", body: `{"id":"a","IDs":"b","i":1,"nested":{"ID":"b"}}`, key: "a"},
		{path: "order.id", body: `{"order":{"id":1},"order":{"id":1}}`, key: "1"},
		{path: "id", body: `{"id":"caf\u00e9"}`, key: "caf\u00e9"},
		{path: "id", body: `{"id":"cafe\u0301"}`, key: "cafe\u0301"},
		{path: "id", body: `{"id":"\ud83d\ude00"}`, key: "😀"},
		{path: "id", body: `{"id":"\ud800"}`, complaint: "broken character"},
		{path: "id", body: "{\"id\":\"\xff\"}", complaint: "broken character"},
		{path: "id", body: `{"ID":"a"}`, complaint: `does not have it, but "ID"`},
		{path: "id", body: `{"id":"a","id":"b"}`, complaint: `has "id" twice, with different values`},
		{path: "id", body: `{"id":"a","id":null}`, complaint: `has "id" twice`},
		{path: "id", body: `{"id":"a","x":{},"ID":"b"}`, complaint: `has both "id" and "ID"`},
		{path: "id", body: `{"Id":"a","id":"a"}`, complaint: `has both "id" and "Id"`},
		{path: "id", body: `{"id":"a","\u0049D":"b"}`, complaint: `has both "id" and "ID"`},
		{path: "kind", body: `{"kind":"a","\u212aind":"b"}`, complaint: `has both "kind" and "`},
		{path: "order.id", body: `{"order":{"id":"a"},"order":{"id":"b"}}`, complaint: `has "order" twice`},
		{path: "order.id", body: `{"order":{"id":"a"},"order":{"amount":1}}`, complaint: `has "order" twice`},
		{path: "order.id", body: `{"Order":{"id":"b"},"order":{"id":"a"}}`, complaint: `has both "order" and "Order"`},
		{path: "order.id", body: `{"order":{"ID":"b","id":"a"}}`, complaint: `has both "id" and "ID"`},
		{path: "id", body: `{}`, complaint: "does not have it"},
		{path: "order.id", body: `{"order":{}}`, complaint: "does not have it"},
		{path: "id", body: `{"id":""}`, complaint: "it is empty"},
		{path: "id", body: `{"id":null}`, complaint: "it is null"},
		{path: "id", body: `{"id":true}`, complaint: "it is a boolean"},
		{path: "id", body: `{"id":{"a":1}}`, complaint: "it is an object"},
		{path: "id", body: `{"id":["a"]}`, complaint: "it is an array"},
		{path: "order.id", body: `{"order":null}`, complaint: `"order" is not an object`},
		{path: "a.b.c", body: `{"a":{"b":[]}}`, complaint: `"a.b" is not an object`},
		{path: "id", body: `null`, complaint: "the payload is not a JSON object"},
		{path: "id", body: `["id"]`, complaint: "the payload is not a JSON object"},
		{path: "id", body: `{"id":"a"} trailing`, complaint: "the payload is not a JSON object"},
		{path: "id", body: ``, complaint: "the payload is not a JSON object"},
	} {
		t.Run(c.path+" of "+c.body, func(t *testing.T) {
			t.Parallel()
			key, err := idem.JSONField(c.path)(t.Context(), message("m1", c.body))
			if c.complaint != "" {
				missing(t, err, `"`+c.path+`"`, c.complaint)
				return
			}
			if err != nil || key != c.key {
				t.Fatalf("key is %q, %v; want %q", key, err, c.key)
			}
		})
	}
}

// TestTheKeyIsWhatTheFunctionReads: encoding/json matches names without regard to
// case and reads members in their order, the key has to be what it leaves.
func TestTheKeyIsWhatTheFunctionReads(t *testing.T) {
	t.Parallel()
	members := []string{`"id":"a"`, `"id":"b"`, `"ID":"b"`, `"Id":null`, `"id":null`, `"x":"c"`}
	for _, first := range members {
		for _, second := range members {
			for _, third := range members {
				body := "{" + first + "," + second + "," + third + "}"
				key, err := idem.JSONField("id")(t.Context(), message("m1", body))
				if err != nil {
					continue
				}
				var order struct {
					ID string `json:"id"`
				}
				if err := json.Unmarshal([]byte(body), &order); err != nil || order.ID != key {
					t.Errorf("%s: the key is %q, and the function reads %q, %v", body, key, order.ID, err)
				}
			}
		}
	}
}

// missing demands a permanent error for want of a key with those words.
func missing(t *testing.T, err error, words ...string) {
	t.Helper()
	d := fault.Rules().Classify(t.Context(), err)
	if d.Class != fault.ClassPermanent || d.Reason != idem.ReasonMissingKey {
		t.Fatalf("error %v is %s (%s), want permanent (%s)", err, d.Class, d.Reason, idem.ReasonMissingKey)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %s", err, word)
		}
	}
}

func TestJSONFieldRefusesPathsThatCannotMatch(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", ".", "a.", ".a", "a..b"} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, `"`+path+`"`) {
					t.Errorf("path %q: panic is %q, want one that names it", path, text)
				}
			}()
			idem.JSONField(path)
		}()
	}
}

func TestAttribute(t *testing.T) {
	t.Parallel()
	m := message("m1", "a")
	m.MessageAttributes = map[string]events.SQSMessageAttribute{
		"job-id": {DataType: "String", StringValue: new("j-1")},
		"empty":  {DataType: "String", StringValue: new("")},
		"bytes":  {DataType: "Binary", BinaryValue: []byte("j-1")},
	}
	if key, err := idem.Attribute("job-id")(t.Context(), m); err != nil || key != "j-1" {
		t.Fatalf("key is %q, %v; want j-1", key, err)
	}
	for _, name := range []string{"empty", "bytes", "none"} {
		_, err := idem.Attribute(name)(t.Context(), m)
		missing(t, err, `"`+name+`"`)
	}
}

func TestMessageID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replay *handler.Replay
		want   string
	}{
		"fresh":              {nil, "m2"},
		"replayed":           {&handler.Replay{MessageID: "m1"}, "m1"},
		"record without ids": {&handler.Replay{}, "m2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := message("m2", "a")
			m.Replay = c.replay
			if key, err := idem.MessageID()(t.Context(), m); err != nil || key != c.want {
				t.Fatalf("key is %q, %v; want %q", key, err, c.want)
			}
		})
	}
}

func FuzzJSONField(f *testing.F) {
	for _, body := range []string{
		`{"a":{"b":"x"}}`, `{"a":{"b":1e400}}`, `{"a":{"b":"\ud800"}}`, `{"a":{"b":"x"},"a":{"b":"y"}}`, `{"a":[]}`, `nul`,
	} {
		f.Add(body)
	}
	find := idem.JSONField("a.b")
	f.Fuzz(func(t *testing.T, body string) {
		key, err := find(t.Context(), message("m1", body))
		if (err == nil) != (key != "") {
			t.Fatalf("key is %q with error %v", key, err)
		}
		if err != nil {
			missing(t, err, `"a.b"`)
			return
		}
		// Whatever has a key is JSON, and has it in another order too.
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(body), &members); err != nil {
			t.Fatalf("the body of key %q is not JSON: %v", key, err)
		}
		again, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := find(t.Context(), message("m1", string(again))); err != nil || other != key {
			t.Fatalf("key is %q, %v after the body was written anew; want %q", other, err, key)
		}
	})
}
