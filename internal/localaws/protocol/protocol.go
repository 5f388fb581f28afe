package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Request is a call of an operation.
type Request struct {
	// Operation is the last part of the X-Amz-Target header.
	Operation string
	// Host is the host and port that the client called.
	Host string
	// Trace is the tracing header X-Amzn-Trace-Id; empty means none.
	Trace string
	Body  []byte
}

// Decode decodes the request's body into v. It returns a SerializationException
// for a body that is not JSON in UTF-8, and a ValidationException for members
// that v does not have, so that no parameter is silently ignored. An [*Error]
// that a part of v returns while it is decoded is returned unchanged.
func (r *Request) Decode(v any) error {
	if !utf8.Valid(r.Body) {
		return &Error{Code: "SerializationException", Message: r.Operation + ": the request is not valid UTF-8"}
	}
	if err := json.Unmarshal(r.Body, v); err != nil {
		if refusal, ok := errors.AsType[*Error](err); ok {
			return refusal
		}
		return &Error{Code: "SerializationException", Message: fmt.Sprintf("%s: %v", r.Operation, err)}
	}
	return r.CheckMembers(v)
}

// CheckMembers returns a ValidationException if the body has a member that v
// does not have. Decode does this too, after everything else.
func (r *Request) CheckMembers(v any) error {
	if name, meant := UnknownMember(r.Body, v); name != "" {
		return r.unknown(name, meant)
	}
	return nil
}

func (r *Request) unknown(name, meant string) error {
	message := fmt.Sprintf("this emulator does not implement the parameter %s of %s", name, r.Operation)
	if meant != "" {
		message += "; names are case-sensitive, and there is " + meant
	}
	return &Error{Code: "ValidationException", Message: message}
}

// Error is an error with the code and message of the service.
type Error struct {
	// Code is the name of the error's shape, as in __type, with or without
	// namespace.
	Code string
	// QueryCode is the code in the older query protocol, which SQS sends in the
	// header x-amzn-query-error; empty if it is the same as Code.
	QueryCode string
	Message   string
	// Status is the HTTP status; 0 means 400.
	Status int
	// Fields are additional members of the error's body.
	Fields map[string]any
}

// Error returns the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }
