package fault_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/sqsafe/sqsafe/fault"
)

func TestHTTP2StreamResetByTheServer(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/half" {
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)

	wantRule(t, post(t, srv.Client(), srv.URL), "net.http")

	resp, err := srv.Client().Get(srv.URL + "/half")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.ProtoMajor != 2 {
		t.Fatalf("the answer came by %s", resp.Proto)
	}
	_, err = io.ReadAll(resp.Body)
	wantRule(t, err, "net.http")
}

// Copies of the errors of golang.org/x/net/http2 and of those in net/http, with
// the same names and fields.
type (
	streamCode  uint32
	StreamError struct {
		StreamID uint32
		Code     streamCode
		Cause    error
	}
	http2StreamError StreamError
	GoAwayError      struct {
		LastStreamID uint32
		ErrCode      streamCode
		DebugData    string
	}
	http2GoAwayError     GoAwayError
	ConnectionError      streamCode
	http2ConnectionError streamCode
)

func (StreamError) Error() string          { return "stream error: stream ID 1; REFUSED_STREAM" }
func (http2StreamError) Error() string     { return "stream error: stream ID 1; INTERNAL_ERROR" }
func (GoAwayError) Error() string          { return "http2: server sent GOAWAY and closed the connection" }
func (http2GoAwayError) Error() string     { return "http2: server sent GOAWAY and closed the connection" }
func (ConnectionError) Error() string      { return "connection error: PROTOCOL_ERROR" }
func (http2ConnectionError) Error() string { return "connection error: PROTOCOL_ERROR" }

func TestBrokenHTTPConnections(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		StreamError{}, &StreamError{}, http2StreamError{}, GoAwayError{}, &http2GoAwayError{},
		ConnectionError(1), http2ConnectionError(1),
		errors.New("http: server closed idle connection"),
		errors.New("http2: client conn is closed"),
		errors.New("http2: client conn not usable"),
		errors.New("http2: client conn could not be established"),
		errors.New("http2: client connection lost"),
		errors.New("http2: client connection force closed via ClientConn.Close"),
		errors.New("http2: Transport received Server's graceful shutdown GOAWAY"),
	} {
		wantRule(t, &url.Error{Op: "Post", URL: "https://pay.example", Err: err}, "net.http")
	}
}

func TestTypesNamedLikeHTTP2ErrorsDoNotMatch(t *testing.T) {
	t.Parallel()
	type StreamError struct {
		error
		StreamID int64
		Code     uint32
	}
	type GoAwayError struct {
		error
		LastStreamID uint32
	}
	type ConnectionError struct{ error }
	for _, err := range []error{
		StreamError{error: errBoom}, GoAwayError{error: errBoom}, ConnectionError{errBoom},
		errors.New("charge: http2: client connection lost"),
	} {
		if got := fault.Classify(t.Context(), err); got.Rule != fault.RuleUnknown {
			t.Errorf("%T (%v) is known to %s", err, err, got.Rule)
		}
	}
}
