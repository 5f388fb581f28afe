package handler_test

import (
	"context"
	"testing"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

func TestStrictRefusesMembersThatNobodyKnows(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"id":"o-1","count":2}`:   "",
		" {\"id\":\"o-1\"} \n":     "",
		`{"id":"o-1","cuont":2}`:   `decode: json: unknown field "cuont"`,
		`{"detail":{"id":"o-1"}}`:  `decode: json: unknown field "detail"`,
		`{"id":"o-1"} {"id":"o"}`:  "decode: body has more behind its JSON value",
		`{"id":"o-1"}}`:            "decode: body has more behind its JSON value",
		`{"id":"o-1"`:              "decode: body is not JSON: unexpected EOF",
		`{"id":"o-1","count":"2"}`: "decode: count is a string, want int",
	} {
		m := &handler.Message{SQSMessage: record("m1", body)}
		ran := false
		h := handler.JSON(func(context.Context, order) error { ran = true; return nil }, handler.Strict())
		got := ""
		if err := call(t.Context(), h, m); err != nil {
			got = err.Error()
		}
		if got != want || ran != (want == "") {
			t.Errorf("%s: error %q, ran %v; want %q", body, got, ran, want)
		}
	}
}

// What is no payload of JSON: how each is refused, by the message alone.
var notPayloads = map[string]string{
	"hello":                   "decode: body is not JSON: invalid character 'h' looking for beginning of value",
	"":                        "decode: body is empty, want a JSON value",
	"\n \n":                   "decode: body is empty, want a JSON value",
	"null":                    "decode: body is null, want a JSON value other than null",
	"\ufeff{\"id\":\"o-1\"}":  "decode: body begins with a byte order mark, want JSON without one",
	`"quoted"`:                "decode: the body is a string, want handler_test.order",
	`[{"id":"o-1"}]`:          "decode: the body is an array, want handler_test.order",
	`{"id":{"secret":"a-1"}}`: "decode: id is an object, want string",
	`{"count":1234567.5}`:     "decode: count is a number, want int",
	"{\"id\":\"\xff\"}":       "decode: body is not valid UTF-8",
}

func TestABodyThatIsNoPayloadFailsAlone(t *testing.T) {
	t.Parallel()
	for body, want := range notPayloads {
		for _, options := range [][]handler.DecodeOption{nil, {handler.Strict()}} {
			q := newQueues()
			var ran []string
			p := newProcessor(handler.JSON(func(_ context.Context, o order) error {
				ran = append(ran, o.ID)
				return nil
			}, options...), q.options())
			ids := handle(t, p, record("m1", `{"id":"o-1"}`), record("m2", body), record("m3", `{"id":"o-3"}`))
			if len(ids) != 0 || len(ran) != 2 || len(q.letters) != 1 {
				t.Fatalf("%q: reported %v, ran %v, %d letters; want m2 dead-lettered alone", body, ids, ran, len(q.letters))
			}
			f := q.letters[0].Failure
			if f.Message != want || f.Class != "permanent" || f.Reason != fault.ReasonDecode {
				t.Errorf("%q: %s %s, %q; want permanent decode, %q", body, f.Class, f.Reason, f.Message, want)
			}
		}
	}
}

func TestARawFunctionGetsWhateverTheBodyIs(t *testing.T) {
	t.Parallel()
	for body := range notPayloads {
		var got string
		q := newQueues()
		p := newProcessor(handler.Func(func(_ context.Context, m *handler.Message) error {
			got = m.Body
			return nil
		}), q.options())
		if ids := handle(t, p, record("m1", body)); len(ids) != 0 || len(q.letters) != 0 || got != body {
			t.Errorf("%q: got %q, reported %v, %d letters", body, got, ids, len(q.letters))
		}
	}
}
