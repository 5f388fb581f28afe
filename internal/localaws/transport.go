package localaws

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
)

// Transport passes requests to the server without a socket, in the goroutine of
// the caller. A request whose context ends returns the context's error, also
// during a long poll. It works in a bubble of testing/synctest, if the server
// was created there.
func (s *Server) Transport() http.RoundTripper { return transport{s} }

type transport struct{ server *Server }

// RoundTrip answers one request.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	if r.Body == nil {
		in.Body = http.NoBody
	} else {
		defer r.Body.Close()
	}
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	in.RequestURI = in.URL.RequestURI()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	out := recorder{header: http.Header{}}
	t.server.ServeHTTP(&out, in)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if out.reset {
		cause := os.NewSyscallError("read", syscall.ECONNRESET)
		return nil, &net.OpError{Op: "read", Net: "memory", Err: cause}
	}
	return out.response(r), nil
}

// recorder is a response that is kept in memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	reset  bool
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

func (r *recorder) response(request *http.Request) *http.Response {
	r.WriteHeader(http.StatusOK)
	return &http.Response{
		Status:        fmt.Sprintf("%d %s", r.status, http.StatusText(r.status)),
		StatusCode:    r.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        r.header,
		Body:          io.NopCloser(&r.body),
		ContentLength: int64(r.body.Len()),
		Request:       request,
	}
}
