package envelope

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// wrapped is a handler that opens an envelope first.
type wrapped struct {
	handler.Handler
	open func(m *handler.Message) error
}

func (w wrapped) Prepare(ctx context.Context, m *handler.Message) (func(context.Context) error, error) {
	if err := w.opened(m); err != nil {
		return nil, err
	}
	return w.Handler.Prepare(ctx, m)
}

// opened opens the envelope. Its error is a [*handler.Result] for a message that
// is decided by now, and else a [*fault.DecodeError].
func (w wrapped) opened(m *handler.Message) error {
	err := w.open(m)
	if r := handler.AsResult(err); r != nil {
		return r
	}
	if err != nil {
		return &fault.DecodeError{Err: err}
	}
	return nil
}

// members are those of a JSON object, by their exact names.
type members map[string]json.RawMessage

// object parses content. It returns nil if content is not a JSON object.
func object(content string) members {
	var m members
	if json.Unmarshal([]byte(content), &m) != nil {
		return nil
	}
	return m
}

// text returns the member of that name; false if it is missing or not a string.
func (m members) text(name string) (string, bool) {
	var value *string
	if json.Unmarshal(m[name], &value) != nil || value == nil {
		return "", false
	}
	return *value, true
}

// kind says what kind of JSON value content is, without showing it.
func kind(content string) string {
	switch {
	case content == "":
		return "empty"
	case !json.Valid([]byte(content)):
		return "not JSON"
	}
	var value any
	_ = json.Unmarshal([]byte(content), &value) // content is known to be valid
	switch value.(type) {
	case map[string]any:
		return "a JSON object"
	case []any:
		return "a JSON array"
	case string:
		return "a JSON string"
	case nil:
		return "null"
	case bool:
		return "a boolean"
	default:
		return "a number"
	}
}

// quoted quotes a value for an error message, cut to 200 bytes.
func quoted(value string) string { return fmt.Sprintf("%.200q", value) }
