package fault

import (
	"net/http"
	"reflect"
	"strconv"
	"time"
)

// delayInResponse returns the delay that a response asks for which the error keeps in its
// field Response: an *http.Response, or a type that embeds one. So do the errors of the AWS
// SDK and of many other clients; a method could not be asked for without an import of them.
func delayInResponse(err error) time.Duration {
	resp := responseIn(reflect.ValueOf(err), 3) //nolint:bodyclose // it is the client's
	if resp == nil {
		return 0
	}
	if delay := parseRetryAfter(resp.Header.Get("Retry-After"), resp.Header.Get("Date")); delay > 0 {
		return delay
	}
	// AWS services write milliseconds.
	ms, err := strconv.ParseUint(resp.Header.Get("X-Amz-Retry-After"), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(min(ms, uint64(maxRetryAfter/time.Millisecond))) * time.Millisecond
}

// responseIn looks into fields with the name Response, at most depth of them one in another.
func responseIn(v reflect.Value, depth int) *http.Response {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if depth == 0 || v.Kind() != reflect.Struct {
		return nil
	}
	inner, ok := field(v, "Response")
	if !ok {
		return nil
	}
	if resp, ok := reflect.TypeAssert[*http.Response](inner); ok {
		return resp
	}
	return responseIn(inner, depth-1)
}
