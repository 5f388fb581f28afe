package runtimeapi

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
)

// Payload limits of a synchronous invocation in bytes, as in Lambda's error
// messages.
const (
	maxEvent    = 6 << 20
	maxResponse = 6<<20 + 100
)

// A function that fails while it streams its response reports the error in
// trailers; an error report without a type may have it in the header.
const (
	errorType = "Lambda-Runtime-Function-Error-Type"
	errorBody = "Lambda-Runtime-Function-Error-Body"
)

// readAnswer reads the body of a response. The caller sets the request id of
// the returned error.
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
