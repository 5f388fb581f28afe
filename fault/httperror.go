package fault

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// HTTPError is an HTTP response whose status is no success.
type HTTPError struct {
	Status int
	// Method, Host and Path are those of the request; empty if the response did
	// not carry it. The query and user information are left out, as they may be
	// secret.
	Method string
	Host   string
	Path   string
	// Delay is what the Retry-After header asked for, at most 12 hours; 0 if it
	// was missing, in the past, or not to be understood.
	Delay time.Duration
}

// CheckResponse gives nil for a status of 200 to 299 and an [*HTTPError] for all
// others: a redirect that the client did not follow has done nothing either. It
// neither reads nor closes the body. A date in Retry-After counts from the
// response's Date header, or from now where that is missing.
func CheckResponse(resp *http.Response) error {
	if resp.StatusCode/100 == 2 {
		return nil
	}
	e := &HTTPError{
		Status: resp.StatusCode,
		Delay:  parseRetryAfter(resp.Header.Get("Retry-After"), resp.Header.Get("Date")),
	}
	if req := resp.Request; req != nil && req.URL != nil {
		e.Method, e.Host, e.Path = req.Method, req.URL.Host, req.URL.EscapedPath()
		if e.Method == "" {
			e.Method = http.MethodGet
		}
	}
	return e
}

// Error tells the request and the status.
func (e *HTTPError) Error() string {
	var b strings.Builder
	if e.Method != "" || e.Host != "" || e.Path != "" {
		b.WriteString(strings.TrimSpace(e.Method+" "+e.Host+e.Path) + ": ")
	}
	b.WriteString("HTTP " + strconv.Itoa(e.Status))
	if text := http.StatusText(e.Status); text != "" {
		b.WriteString(" " + text)
	}
	return b.String()
}

// HTTPStatusCode gives Status.
func (e *HTTPError) HTTPStatusCode() int { return e.Status }

// RetryAfter gives Delay.
func (e *HTTPError) RetryAfter() time.Duration { return e.Delay }
