package handler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

type order struct {
	ID    string `json:"id"`
	Count int    `json:"count"`
}

func (o *order) Validate() error {
	if o.ID == "" {
		return errors.New("id is required")
	}
	if o.ID == "panic" {
		panic("validate panics")
	}
	return nil
}

func TestOnlyASoundPayloadReachesTheFunction(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		reason     string // empty: the function runs
	}{
		{"sound", `{"id":"o-1","count":2}`, ""},
		{"space around", " \n{\"id\":\"o-1\"}\t", ""},
		{"an unknown member", `{"id":"o-1","new":true}`, ""},
		{"not JSON", `hello`, fault.ReasonDecode},
		{"cut off", `{"id":"o-1"`, fault.ReasonDecode},
		{"empty", ``, fault.ReasonDecode},
		{"something behind it", `{"id":"o-1"} {"id":"o-2"}`, fault.ReasonDecode},
		{"null", ` null `, fault.ReasonDecode},
		{"byte order mark", "\ufeff{\"id\":\"o-1\"}", fault.ReasonDecode},
		{"another type", `{"id":"o-1","count":"two"}`, fault.ReasonDecode},
		{"a string", `"o-1"`, fault.ReasonDecode},
		{"invalid UTF-8", "{\"id\":\"\xff\"}", fault.ReasonDecode},
		{"a required member is missing", `{}`, fault.ReasonValidation},
		{"validation panics", `{"id":"panic"}`, handler.ReasonPanic},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := newQueues()
			ran := 0
			p := newProcessor(handler.JSON(func(_ context.Context, o order) error {
				ran++
				if o.ID != "o-1" {
					t.Errorf("payload %+v, want id o-1", o)
				}
				return nil
			}), q.options())
			if ids := handle(t, p, record("m1", tt.body)); len(ids) != 0 {
				t.Errorf("reported %v, want none", ids)
			}
			if wantRuns := map[bool]int{true: 1, false: 0}[tt.reason == ""]; ran != wantRuns {
				t.Errorf("the function ran %d times, want %d", ran, wantRuns)
			}
			if tt.reason == "" {
				return
			}
			if len(q.letters) != 1 {
				t.Fatalf("%d dead letters, want 1", len(q.letters))
			}
			l := q.letters[0]
			if l.Failure.Reason != tt.reason || l.Failure.Class != "permanent" || l.Message.Body != tt.body {
				t.Errorf("dead letter %s %s %q, want permanent %s and the body as it came",
					l.Failure.Class, l.Failure.Reason, l.Message.Body, tt.reason)
			}
		})
	}
}

func TestJSONTakesAnyType(t *testing.T) {
	t.Parallel()
	check := func(name string, h handler.Handler, body string) {
		m := &handler.Message{}
		m.Body = body
		if err := call(t.Context(), h, m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	check("pointer", handler.JSON(func(_ context.Context, o *order) error {
		if o.ID != "o-1" {
			t.Errorf("got %+v", o)
		}
		return nil
	}), `{"id":"o-1"}`)
	check("map", handler.JSON(func(_ context.Context, v map[string]int) error {
		if v["a"] != 1 {
			t.Errorf("got %v", v)
		}
		return nil
	}), `{"a":1}`)
	check("any", handler.JSON(func(_ context.Context, v any) error {
		if v != "text" {
			t.Errorf("got %v", v)
		}
		return nil
	}), `"text"`)
}

func TestAnErrorOfPrepareIsPermanentUnlessItSaysOtherwise(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err      error
		reported int
	}{
		{errors.New("bad"), 0},
		{fault.Retryable(errors.New("schema registry is down")), 1},
	} {
		q := newQueues()
		ids := handle(t, newProcessor(prepares{look: fails(tt.err)}, q.options()), record("m1", "x"))
		if len(ids) != tt.reported || len(q.letters) != 1-tt.reported {
			t.Errorf("%v: reported %v and %d dead letters", tt.err, ids, len(q.letters))
		}
	}
}

func FuzzHandleLosesNoBody(f *testing.F) {
	for _, body := range []string{`{"id":"o-1"}`, `null`, ``, `{`, "\xff", `{"id":1}`, `[[[[`} {
		f.Add(body, 1)
	}
	f.Fuzz(func(t *testing.T, body string, receives int) {
		q := newQueues()
		ran := false
		p := newProcessor(handler.JSON(func(context.Context, order) error { ran = true; return nil }), q.options())
		response, err := p.Handle(t.Context(), event(received(receives, record("m1", body))))
		if err != nil {
			t.Fatal(err)
		}
		if len(response.BatchItemFailures) != 0 {
			t.Fatalf("body %q was reported, want done or dead", body)
		}
		if ran == (len(q.letters) == 1) {
			t.Fatalf("body %q: ran %v, %d dead letters", body, ran, len(q.letters))
		}
		if len(q.letters) == 1 && q.letters[0].Message.Body != body {
			t.Fatalf("dead letter has %q, want %q", q.letters[0].Message.Body, body)
		}
	})
}

func TestAPointerPayloadIsValidated(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{}`:             fault.ReasonValidation,
		`{"id":"panic"}`: handler.ReasonPanic,
		`null`:           fault.ReasonDecode,
	} {
		q := newQueues()
		h := handler.JSON(func(context.Context, *order) error { t.Errorf("%s: it ran", body); return nil })
		handle(t, newProcessor(h, q.options()), record("m1", body))
		if len(q.letters) != 1 || q.letters[0].Failure.Reason != want {
			t.Errorf("%s: letters %+v, want one for %s", body, q.letters, want)
		}
	}
	ran := 0
	h := handler.JSON(func(context.Context, *order) error { ran++; return nil })
	handle(t, newProcessor(h, nil), record("m1", `{"id":"o-1"}`))
	if ran != 1 {
		t.Errorf("a sound payload ran %d times", ran)
	}
}

// id is a number that its own type decodes.
type id int64

func (i *id) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 64)
	*i = id(n)
	return err
}

func TestValuesThatTypesRefuseAreNotInTheErrorText(t *testing.T) {
	t.Parallel()
	type bill struct {
		Due time.Time `json:"due"`
		ID  id        `json:"id"`
	}
	h := handler.JSON(func(context.Context, bill) error { return nil })
	for body, want := range map[string]string{
		`{"due":"4111 1111"}`: "decode: a time is not as RFC 3339 has it",
		`{"id":"4111 1111"}`:  "decode: a number cannot be read: invalid syntax",
	} {
		_, err := h.Prepare(t.Context(), &handler.Message{SQSMessage: record("m1", body)})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

// upper decodes with another function, which the checks of JSON do not depend on.
func upper(data []byte, into any) error {
	if strings.Contains(string(data), "secret") {
		return errors.New("refused")
	}
	return json.Unmarshal(bytes.ToUpper(data), into)
}

func TestAnotherDecoderTakesThePlaceOfEncodingJSON(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body    string
		options []handler.DecodeOption
		want    string // empty: refused
	}{
		"it decodes":           {`{"id":"o-1"}`, []handler.DecodeOption{handler.DecodeWith(upper)}, "O-1"},
		"it refuses":           {`{"id":"secret"}`, []handler.DecodeOption{handler.DecodeWith(upper)}, ""},
		"nil is encoding/json": {`{"id":"o-1"}`, []handler.DecodeOption{handler.DecodeWith(nil)}, "o-1"},
		"strict has its own": {
			`{"id":"o-1"}`, []handler.DecodeOption{handler.DecodeWith(upper), handler.Strict()}, "o-1",
		},
		"no member of the payload": {`{"other":1}`, []handler.DecodeOption{handler.DecodeWith(upper)}, ""},
		"null":                     {`null`, []handler.DecodeOption{handler.DecodeWith(upper)}, ""},
		"no text":                  {"{\"id\":\"\xff\"}", []handler.DecodeOption{handler.DecodeWith(upper)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			h := handler.JSON(func(_ context.Context, o order) error { got = o.ID; return nil }, tt.options...)
			q := newQueues()
			ids := handle(t, newProcessor(h, q.options()), record("m1", tt.body))
			if got != tt.want || len(ids) != 0 || (len(q.letters) == 0) != (tt.want != "") {
				t.Errorf("the function got %q, want %q; %d dead letters", got, tt.want, len(q.letters))
			}
		})
	}
}
