package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Request is one call of an operation.
type Request struct {
	// Operation is the last part of the X-Amz-Target header.
	Operation string
	// Host is the host and port that the client called.
	Host string
	Body []byte
}

// Decode reads the request's body into v. It refuses what is not JSON in UTF-8
// with a SerializationException, and members that v does not have with a
// ValidationException, so that a program never takes for granted what is not done.
// An [*Error] that a part of v gives when it is read is returned as it is.
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
	if name, meant := UnknownMember(r.Body, v); name != "" {
		return r.unknown(name, meant)
	}
	return nil
}

func (r *Request) unknown(name, meant string) error {
	message := fmt.Sprintf("this stand-in does not implement the parameter %s of %s", name, r.Operation)
	if meant != "" {
		message += "; names are case-sensitive, and there is " + meant
	}
	return &Error{Code: "ValidationException", Message: message}
}

// Error is a refusal as a service words it.
type Error struct {
	// Code is the error's shape name, as in __type, with or without namespace.
	Code string
	// QueryCode is the code of the older query protocol, which SQS sends in the
	// header x-amzn-query-error; empty where it is the same as Code.
	QueryCode string
	Message   string
	// Status is the HTTP status; 0 means 400.
	Status int
	// Fields are further members of the error's body.
	Fields map[string]any
}

// Error gives code and message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }
