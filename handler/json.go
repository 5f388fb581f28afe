package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sqsafe/sqsafe/fault"
)

// validator is what a payload type may have to be checked before it is used.
type validator interface{ Validate() error }

// DecodeOption changes how [JSON] reads a payload.
type DecodeOption func(*decoding)

type decoding struct {
	strict bool
	// with is json.Unmarshal, or what takes its place.
	with func(data []byte, into any) error
	// payload is nil for types of which the names of members say nothing.
	payload *payloadType
}

// Strict refuses payloads with any member that T does not know. It finds a
// misspelt optional member, and lets no producer add one before its consumers.
func Strict() DecodeOption { return func(d *decoding) { d.strict = true } }

// DecodeWith decodes payloads with another function than [json.Unmarshal], such as that of a
// faster package with the same rules (sonic, goccy/go-json, easyjson). [JSON] makes its own
// checks all the same. It reads the names of members in the tags of encoding/json, and a
// function that reads others makes [JSON] refuse payloads. Errors of decode are permanent,
// and are logged: they must not show what a payload holds. With [Strict], and where decode
// is nil, it has no effect. decode must be safe for concurrent use.
func DecodeWith(decode func(data []byte, into any) error) DecodeOption {
	return func(d *decoding) { d.with = decode }
}

// JSON makes a Handler of a function that takes a decoded payload. The content
// must be exactly one JSON value other than null, in valid UTF-8, with nothing
// behind it. Where T or *T has a method Validate() error, its error is permanent
// too. Members that T does not know are ignored, unless the options say [Strict].
//
// A JSON object that has members, but none that T has, is another thing than a T:
// mostly one in an envelope, which the error then names. It is a decoding error,
// and so is an envelope of AWS that shares a member with T, such as the id of an
// EventBridge event, and an AWS event without Records where T is for one, such as
// events.S3Event. Names count as encoding/json matches them. None of this is asked
// of a T that decodes itself, has no fields, or is no struct.
//
// JSON panics if fn is nil.
func JSON[T any](fn func(ctx context.Context, payload T) error, options ...DecodeOption) Handler {
	if fn == nil {
		panic("handler.JSON: the function is nil; give it the one that does the work")
	}
	t := typed[T]{fn: fn, decoding: decoding{payload: typeOfPayload(reflect.TypeFor[T]())}}
	for _, set := range options {
		set(&t.decoding)
	}
	return t
}

type typed[T any] struct {
	fn func(context.Context, T) error
	decoding
}

// Prepare decodes and validates the content, and returns the call of the function.
func (t typed[T]) Prepare(_ context.Context, m *Message) (func(context.Context) error, error) {
	payload := new(T)
	if err := t.decode(m.Content(), payload); err != nil {
		return nil, &fault.DecodeError{Err: err}
	}
	if err := validate(payload); err != nil {
		return nil, &fault.ValidationError{Err: err}
	}
	fn := t.fn
	return func(ctx context.Context) error { return fn(ctx, *payload) }, nil
}

// validate asks *T, which has the methods of T too, and, where T is itself a
// pointer or an interface, T.
func validate[T any](payload *T) error {
	if v, ok := any(payload).(validator); ok {
		return v.Validate()
	}
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Pointer, reflect.Interface:
		if v, ok := any(*payload).(validator); ok {
			return v.Validate()
		}
	}
	return nil
}

// decode reads content, the one JSON value of a message, into a pointer.
func (d decoding) decode(content string, into any) error {
	switch {
	case !utf8.ValidString(content):
		return errors.New("body is not valid UTF-8")
	case strings.HasPrefix(content, "\ufeff"):
		return errors.New("body begins with a byte order mark, want JSON without one")
	case strings.TrimSpace(content) == "":
		return errors.New("body is empty, want a JSON value")
	case strings.TrimSpace(content) == "null":
		return errors.New("body is null, want a JSON value other than null")
	}
	err := d.unmarshal(content, into)
	switch {
	case d.payload == nil:
		return err
	case err != nil:
		return d.payload.explain(content, err)
	}
	return d.payload.check(content, into)
}

func (d decoding) unmarshal(content string, into any) error {
	if !d.strict {
		decode := d.with
		if decode == nil {
			decode = json.Unmarshal
		}
		return withoutValue(decode([]byte(content), into))
	}
	decoder := json.NewDecoder(strings.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return withoutValue(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("body has more behind its JSON value")
	}
	return nil
}

// withoutValue keeps what the payload holds out of the error's text.
func withoutValue(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("body is not JSON: %w", syntax)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("body is not JSON: %w", err)
	}
	if _, ok := errors.AsType[*time.ParseError](err); ok {
		return &mismatchError{text: "a time is not as RFC 3339 has it", err: err}
	}
	if number, ok := errors.AsType[*strconv.NumError](err); ok {
		return &mismatchError{text: "a number cannot be read: " + number.Err.Error(), err: err}
	}
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	kind, _, _ := strings.Cut(mismatch.Value, " ")
	field := mismatch.Field
	if field == "" {
		field = "the body"
	}
	return &mismatchError{text: fmt.Sprintf("%s is %s %s, want %s", field, article(kind), kind, mismatch.Type), err: err}
}

func article(noun string) string {
	if strings.ContainsAny(noun[:min(1, len(noun))], "aeiou") {
		return "an"
	}
	return "a"
}

// mismatchError is a type error of package json in other words.
type mismatchError struct {
	text string
	err  error
}

func (e *mismatchError) Error() string { return e.text }
func (e *mismatchError) Unwrap() error { return e.err }
