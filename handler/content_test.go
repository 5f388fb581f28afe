package handler_test

import (
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
)

func TestContentIsTheBodyUntilItIsUnwrapped(t *testing.T) {
	t.Parallel()
	m := &handler.Message{SQSMessage: record("m1", `{"detail":"x"}`)}
	if m.Content() != m.Body {
		t.Errorf("content is %q, want the body", m.Content())
	}
	for _, content := range []string{"x", ""} {
		m.Unwrap(content, nil)
		if m.Content() != content || m.Body != `{"detail":"x"}` {
			t.Errorf("content is %q and body %q, want %q and the body as it was", m.Content(), m.Body, content)
		}
	}
}

func TestAttributeReadsEitherPlace(t *testing.T) {
	t.Parallel()
	own := "own"
	m := &handler.Message{SQSMessage: record("m1", "x")}
	m.MessageAttributes = map[string]events.SQSMessageAttribute{
		"both":  {DataType: "String", StringValue: &own},
		"bytes": {DataType: "Binary", BinaryValue: []byte("x")},
	}
	carried := map[string]string{"both": "outer", "outer": "outer", "shared": "outer"}
	m.Unwrap("x", carried)
	m.Unwrap("x", map[string]string{"inner": "inner", "shared": "inner"})
	for name, want := range map[string]string{
		"both": "own", "outer": "outer", "inner": "inner", "shared": "inner", "bytes": "", "none": "",
	} {
		if got, ok := m.Attribute(name); got != want || ok != (want != "") {
			t.Errorf("attribute %s is %q, %v; want %q", name, got, ok, want)
		}
	}
	if carried["shared"] != "outer" {
		t.Error("the map of the first envelope was written to")
	}
}
