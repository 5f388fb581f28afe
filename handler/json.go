package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sqsafe/sqsafe/fault"
)

// validator is what a payload type may have to be checked before it is used.
type validator interface{ Validate() error }

// JSON makes a Handler of a function that takes a decoded payload. The body
// must be exactly one JSON value other than null, in valid UTF-8, with nothing
// behind it. Where T or *T has a method Validate() error, its error is permanent
// too. Members that T does not know are ignored.
func JSON[T any](fn func(ctx context.Context, payload T) error) Handler {
	return typed[T]{fn}
}

type typed[T any] struct {
	fn func(context.Context, T) error
}

// Prepare decodes and validates the body, and keeps the value with the message.
func (t typed[T]) Prepare(_ context.Context, m *Message) error {
	payload := new(T)
	if err := decode(m.Body, payload); err != nil {
		return &fault.DecodeError{Err: err}
	}
	if v, ok := any(payload).(validator); ok {
		if err := v.Validate(); err != nil {
			return &fault.ValidationError{Err: err}
		}
	}
	m.payload = payload
	return nil
}

// Handle calls the function with the value that Prepare has left.
func (t typed[T]) Handle(ctx context.Context, m *Message) error {
	payload, ok := m.payload.(*T)
	if !ok {
		if err := t.Prepare(ctx, m); err != nil {
			return err
		}
		payload = m.payload.(*T)
	}
	return t.fn(ctx, *payload)
}

func decode(body string, into any) error {
	if !utf8.ValidString(body) {
		return errors.New("body is not valid UTF-8")
	}
	if strings.TrimSpace(body) == "null" {
		return errors.New("body is null, want a JSON value")
	}
	return withoutValue(json.Unmarshal([]byte(body), into))
}

// withoutValue keeps what the payload holds out of the error's text.
func withoutValue(err error) error {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	kind, _, _ := strings.Cut(mismatch.Value, " ")
	field := mismatch.Field
	if field == "" {
		field = "the body"
	}
	return &mismatchError{text: fmt.Sprintf("%s is a %s, want %s", field, kind, mismatch.Type), err: err}
}

// mismatchError is a type error of package json in other words.
type mismatchError struct {
	text string
	err  error
}

func (e *mismatchError) Error() string { return e.text }
func (e *mismatchError) Unwrap() error { return e.err }
