package idem

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/internal/jobid"
)

// keyHeader is the header of the IETF's draft, and of most providers.
const keyHeader = "Idempotency-Key"

// longestHeader is the longest key that goes into the header as it is: Stripe
// and others take 255 characters.
const longestHeader = 255

// Scope is what stands before the [Key] in the header that [Transport] sends.
// Jobs for which it sends the same text are one job to the receiver.
//
// A value other than [ScopeQueue] and [ScopeKey] is a fixed name in the place of
// the queue's: the scope "charges" sends "charges#ch-1" from every queue. Then
// nothing changes for the receiver when the queue is renamed or replaced. A
// name has no "#".
//
// The key of a [Step] has the same scope. A receiver remembers what it got, so
// another scope makes other jobs of those that are being retried or replayed.
type Scope string

const (
	// ScopeQueue (the zero value) sends the queue's name and the key,
	// "charges#ch-1", as [ClientRequestToken] does. Equal keys of two queues are
	// two jobs to the receiver, as they are in the store. The key stands alone
	// if the message does not name its queue.
	ScopeQueue Scope = ""
	// ScopeKey sends the key alone, "ch-1". Equal keys of all queues are one job
	// to the receiver, so the keys have to be unique over all of them.
	ScopeKey Scope = "#"
)

// of returns what stands for the job of ctx in the scope; empty without a key.
func (s Scope) of(ctx context.Context) string {
	key, name := Key(ctx), string(s)
	if s == ScopeQueue {
		name = queueName(ctx)
	}
	if key == "" || name == "" || s == ScopeKey {
		return key
	}
	return name + "#" + key
}

// Transport passes the [Key] of a request's context on in the header
// Idempotency-Key, with the queue's name before it ([Scope]), so that a receiver
// which honours it does at every attempt and replay of the job what it does at
// the first. The zero value works. It is safe for concurrent use if Base is.
//
// A value that a header cannot carry unchanged is replaced by 64 hexadecimal
// digits of its SHA-256: one of more than 255 characters, with anything but
// printable ASCII, or with a space at an end. Requests that have the header
// keep it. Those of the methods GET, HEAD, OPTIONS and TRACE get none, and those
// of a context without a key go out as they are.
//
// net/http sends a request that carries the header a second time when a
// connection breaks, unless it cannot have the body again. Transport takes
// that possibility away: an attempt is to be the job's, so that its failure is
// seen, classified and waited for. To this end a request without a body gets
// one of no bytes, which makes a POST go out chunked.
//
// [http.Client] follows a redirect of 301, 302 or 303 by a GET without the body,
// whose success would pass for the job's. Transport refuses such a request with
// the error that [fault.CheckResponse] has for it; it is not sent. Redirects of
// 307 and 308 are followed, to other hosts too, with method, body and header.
type Transport struct {
	// Base makes the requests; nil means [http.DefaultTransport].
	Base http.RoundTripper
	// Scope says what is sent for a job; the zero value is [ScopeQueue].
	Scope Scope
}

// RoundTrip implements [http.RoundTripper]. Its error is a [*fault.HTTPError]
// for a request that follows a redirect and lost the method or the body of the
// one before it; all others are those of Base.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	key := t.Scope.of(r.Context())
	if key == "" {
		return base.RoundTrip(r)
	}
	if err := checkRedirect(r); err != nil {
		return nil, err
	}
	if !safe(r.Method) {
		r = r.Clone(r.Context())
		if r.Header == nil {
			r.Header = http.Header{}
		}
		if !hasKey(r.Header) {
			r.Header[keyHeader] = []string{jobid.Bounded(key, longestHeader, fieldValue)}
		}
		sendOnce(r)
	}
	resp, err := base.RoundTrip(r)
	if resp != nil && resp.Request == nil {
		resp.Request = r // checkRedirect has to know what a redirect answers
	}
	return resp, err
}

// checkRedirect returns what CheckResponse would say of a request whose answer
// is a success. The body of a request that is refused is closed, as net/http
// leaves that to its transport.
func checkRedirect(r *http.Request) error {
	err := fault.CheckResponse(&http.Response{StatusCode: http.StatusOK, Request: r})
	if err != nil && r.Body != nil {
		_ = r.Body.Close()
	}
	return err
}

// safe reports whether a method changes nothing (RFC 9110, 9.2.1).
func safe(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

func hasKey(h http.Header) bool {
	for name := range h {
		if strings.EqualFold(name, keyHeader) {
			return true
		}
	}
	return false
}

// sendOnce keeps net/http from sending the request again by itself, which it
// does for one with the header whose body it can have again.
func sendOnce(r *http.Request) {
	r.GetBody = nil
	if r.Body == nil || r.Body == http.NoBody {
		r.Body = io.NopCloser(strings.NewReader(""))
	}
}

// fieldValue reports whether a header carries the key unchanged: net/http refuses some
// other values, and proxies remove spaces at the ends.
func fieldValue(key string) bool {
	return jobid.Visible(strings.ReplaceAll(key, " ", "_")) && key == strings.TrimSpace(key)
}
