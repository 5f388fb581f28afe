package runtimeapi

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
)

// Payload limits of a synchronous invocation in bytes, as Lambda names them in
// its refusals.
const (
	maxEvent    = 6 << 20
	maxResponse = 6<<20 + 100
)

// A function that streams its answer and fails half-way says so in trailers;
// a report without a type of its own may carry it in the header.
const (
	errorType = "Lambda-Runtime-Function-Error-Type"
	errorBody = "Lambda-Runtime-Function-Error-Body"
)

// readAnswer takes a response's body; the request id of its error is the caller's to set.
func readAnswer(r *http.Request) ([]byte, *FunctionError) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxResponse+1))
	rest, restErr := io.Copy(io.Discard, r.Body)
	if size := int64(len(body)) + rest; size > maxResponse {
		return nil, &FunctionError{Type: TypeResponseSize, Message: fmt.Sprintf(
			"Response payload size (%d bytes) exceeded maximum allowed payload size (%d bytes).", size, maxResponse)}
	}
	if err != nil || restErr != nil {
		return nil, &FunctionError{Type: TypeUnknown, Message: "the response broke off"}
	}
	if kind := r.Trailer.Get(errorType); kind != "" {
		report, _ := base64.StdEncoding.DecodeString(r.Trailer.Get(errorBody))
		return nil, parseReport(report, kind)
	}
	return body, nil
}

func readReport(r *http.Request) *FunctionError {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxResponse))
	if err != nil {
		return &FunctionError{Type: TypeUnknown, Message: "the error report broke off"}
	}
	return parseReport(body, r.Header.Get(errorType))
}
