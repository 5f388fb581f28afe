package fault

import (
	"context"
	"reflect"
	"slices"
	"strings"
)

// httpConnectionBroke matches the errors with which net/http and
// golang.org/x/net/http2 report a stream or a connection that the peer or the
// network has closed.
func httpConnectionBroke(_ context.Context, err error) bool {
	return has(err, func(e error) bool {
		return isHTTP2Error(e) || reflect.TypeOf(e) == plainText && slices.Contains(connectionTexts, e.Error())
	})
}

// connectionTexts are errors that can be recognized only by their text.
var connectionTexts = []string{
	"http: server closed idle connection",
	"http2: client conn is closed",
	"http2: client conn not usable",
	"http2: client conn could not be established",
	"http2: client connection lost",
	"http2: client connection force closed via ClientConn.Close",
	"http2: Transport received Server's graceful shutdown GOAWAY",
}

// isHTTP2Error compares names and fields: net/http has its own copies of the
// types, which are not exported and whose names begin with http2.
func isHTTP2Error(err error) bool {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch strings.TrimPrefix(t.Name(), "http2") {
	case "StreamError":
		return hasCodes(t, "StreamID", "Code")
	case "GoAwayError":
		return hasCodes(t, "LastStreamID", "ErrCode")
	case "ConnectionError":
		return t.Kind() == reflect.Uint32
	}
	return false
}

// hasCodes reports whether t is a struct with 32-bit fields of those names.
func hasCodes(t reflect.Type, names ...string) bool {
	return t.Kind() == reflect.Struct && !slices.ContainsFunc(names, func(name string) bool {
		field, ok := t.FieldByName(name)
		return !ok || field.Type.Kind() != reflect.Uint32
	})
}
