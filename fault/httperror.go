package fault

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// HTTPError is an HTTP response whose status is no success, or a redirect that
// the client followed with another request than the one that was made.
type HTTPError struct {
	Status int
	// Method, Host and Path are those of the request; empty if the response did
	// not carry it. The query and user information are left out, as they may be
	// secret.
	Method string
	Host   string
	Path   string
	// RequestID is the id by which the service knows the request, from a header such as
	// X-Request-Id; empty if the response named none.
	RequestID string
	// Delay is what the Retry-After header asked for, at most 12 hours; 0 if it
	// was missing, in the past, or not to be understood.
	Delay time.Duration
	// Location is where a redirect leads, without query and user information;
	// empty if Status is no redirect or the header is missing or malformed.
	Location string
	// FollowedAs is the method of the request by which the client follows the
	// redirect, such as GET for a POST; empty if it does not follow it.
	FollowedAs string
	// Body is the begin of the response's body, if [KeepBody] asks for it; empty for a
	// redirect.
	Body string
}

// CheckResponse returns nil for a status of 200 to 299 and an [*HTTPError] for all
// others: a redirect that the client did not follow has done nothing either. It
// does not close the body, and reads it only with [KeepBody]. A date in Retry-After counts from the
// response's Date header, or from now where that is missing.
//
// If the client followed a redirect with another method than that of the
// request, or without its body, the error is that redirect, whatever the status
// of the last response: [http.Client] makes a GET of a POST that is answered by
// 301, 302 or 303, and the success of that GET says nothing about the POST.
// CheckResponse finds such redirects by [http.Request.Response].
func CheckResponse(resp *http.Response, options ...ResponseOption) error {
	if redirect, followedAs := lossyRedirect(resp.Request); redirect != nil { //nolint:bodyclose // the client did
		e := newHTTPError(redirect)
		e.FollowedAs = followedAs
		return e
	}
	if resp.StatusCode/100 == 2 {
		return nil
	}
	e := newHTTPError(resp)
	for _, add := range options {
		add(e, resp)
	}
	return e
}

func newHTTPError(resp *http.Response) *HTTPError {
	e := &HTTPError{
		Status:    resp.StatusCode,
		Delay:     parseRetryAfter(resp.Header.Get("Retry-After"), resp.Header.Get("Date")),
		Location:  location(resp),
		RequestID: requestID(resp.Header),
	}
	if req := resp.Request; req != nil && req.URL != nil {
		e.Method, e.Host, e.Path = methodOf(req), req.URL.Host, req.URL.EscapedPath()
	}
	return e
}

// Error names the request and the status, of a redirect where it leads, and what was kept
// of the body.
func (e *HTTPError) Error() string {
	var b strings.Builder
	if e.Method != "" || e.Host != "" || e.Path != "" {
		b.WriteString(strings.TrimSpace(e.Method+" "+e.Host+e.Path) + ": ")
	}
	b.WriteString("HTTP " + strconv.Itoa(e.Status))
	if text := http.StatusText(e.Status); text != "" {
		b.WriteString(" " + text)
	}
	if e.Location != "" {
		b.WriteString(" to " + e.Location)
	}
	if e.FollowedAs != "" {
		b.WriteString(", followed as " + e.FollowedAs + " without the body; use the final URL and valid credentials, " +
			"or return http.ErrUseLastResponse from CheckRedirect and handle the redirect")
	}
	if e.Body != "" {
		b.WriteString(": " + e.Body)
	}
	return b.String()
}

// HTTPStatusCode returns Status.
func (e *HTTPError) HTTPStatusCode() int { return e.Status }

// RetryAfter returns Delay.
func (e *HTTPError) RetryAfter() time.Duration { return e.Delay }
