package fault_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
)

func TestCheckResponseOfARealServer(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.URL.Query().Get("status"))
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
	}))
	t.Cleanup(srv.Close)
	host := strings.TrimPrefix(srv.URL, "http://")

	for _, status := range []int{200, 201, 204} {
		if err := call(t, host, status); err != nil {
			t.Errorf("status %d: %v, want nil", status, err)
		}
	}
	for status, rule := range map[int]string{
		300: fault.RuleUnknown, 304: fault.RuleUnknown,
		400: "http.4xx", 404: "http.404", 422: "http.4xx", 429: "http.429", 500: "http.5xx", 503: "http.5xx",
	} {
		err := call(t, host, status)
		want := &fault.HTTPError{
			Status: status, Method: "POST", Host: host, Path: "/charges/a%20b", Delay: 7 * time.Second,
		}
		got, _ := errors.AsType[*fault.HTTPError](err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("status %d (-want +got):\n%s", status, diff)
		}
		d := fault.Classify(t.Context(), err)
		if d.Rule != rule {
			t.Errorf("status %d: rule %q, want %q", status, d.Rule, rule)
		}
		if wantDelay := d.Class != permanent; (d.RetryAfter == 7*time.Second) != wantDelay {
			t.Errorf("status %d: %v with a delay of %v", status, d.Class, d.RetryAfter)
		}
	}
}

// call posts with a secret in the query and the user information, and checks the
// answer.
func call(t *testing.T, host string, status int) error {
	t.Helper()
	query := "status=" + strconv.Itoa(status) + "&token=secret"
	resp, err := http.Post("http://user:secret@"+host+"/charges/a%20b?"+query, "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return fault.CheckResponse(resp)
}

func TestHTTPErrorText(t *testing.T) {
	t.Parallel()
	get := &http.Request{URL: &url.URL{Host: "pay.example", Path: "/x"}}
	tests := []struct {
		resp *http.Response
		want string
	}{
		{&http.Response{StatusCode: 429, Request: get}, "GET pay.example/x: HTTP 429 Too Many Requests"},
		{&http.Response{StatusCode: 503}, "HTTP 503 Service Unavailable"},
		{&http.Response{StatusCode: 599, Request: &http.Request{}}, "HTTP 599"},
		{
			&http.Response{StatusCode: 301, Header: http.Header{"Location": {"https://pay.example/x"}}},
			"HTTP 301 Moved Permanently to https://pay.example/x",
		},
		{
			&http.Response{StatusCode: 200, Request: &http.Request{Response: &http.Response{
				StatusCode: 302, Header: http.Header{"Location": {"/login"}},
				Request: &http.Request{Method: "POST", URL: &url.URL{Scheme: "https", Host: "pay.example", Path: "/x"}},
			}}},
			"POST pay.example/x: HTTP 302 Found to https://pay.example/login, followed as GET without the body; " +
				"use the final URL and valid credentials, or return http.ErrUseLastResponse from CheckRedirect " +
				"and handle the redirect",
		},
	}
	for _, tt := range tests {
		if got := fault.CheckResponse(tt.resp).Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func retryAfter(value, date string) time.Duration {
	header := http.Header{"Retry-After": {value}}
	if date != "" {
		header.Set("Date", date)
	}
	err := fault.CheckResponse(&http.Response{StatusCode: 429, Header: header})
	return err.(*fault.HTTPError).Delay
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	// Inside the bubble the time is midnight of 1 January 2000, UTC.
	synctest.Test(t, func(t *testing.T) {
		const noon = "Sun, 06 Nov 1994 12:00:00 GMT"
		tests := []struct {
			name, value, date string
			want              time.Duration
		}{
			{"missing", "", "", 0},
			{"seconds", "120", noon, 2 * time.Minute},
			{"spaces", " 120 ", "", 2 * time.Minute},
			{"zero", "0", "", 0},
			{"negative", "-5", "", 0},
			{"fraction", "1.5", "", 0},
			{"garbage", "soon", noon, 0},
			{"twelve hours", "43200", "", 12 * time.Hour},
			{"a second more", "43201", "", 12 * time.Hour},
			{"more than a duration holds", "9223372037", "", 12 * time.Hour},
			{"more than an integer holds", "99999999999999999999999", "", 12 * time.Hour},
			{"date from Date", "Sun, 06 Nov 1994 12:01:30 GMT", noon, 90 * time.Second},
			{"date from now", "Sat, 01 Jan 2000 00:00:30 GMT", "", 30 * time.Second},
			{"date from now when Date is garbage", "Sat, 01 Jan 2000 00:00:30 GMT", "noon", 30 * time.Second},
			{"old date form", "Sunday, 06-Nov-94 12:00:10 GMT", noon, 10 * time.Second},
			{"past", "Sun, 06 Nov 1994 11:59:59 GMT", noon, 0},
			{"far future", "Fri, 31 Dec 9999 23:59:59 GMT", noon, 12 * time.Hour},
		}
		for _, tt := range tests {
			if got := retryAfter(tt.value, tt.date); got != tt.want {
				t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
			}
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"", "0", "120", "-1", "99999999999999999999", "Sun, 06 Nov 1994 08:49:37 GMT"} {
		f.Add(value, "Sun, 06 Nov 1994 08:00:00 GMT")
		f.Add(value, "")
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		d := retryAfter(value, date)
		if d < 0 || d > 12*time.Hour || d%time.Second != 0 && date != "" && validDate(date) {
			t.Errorf("Retry-After %q, Date %q: %v", value, date, d)
		}
		if seconds, err := strconv.ParseUint(value, 10, 32); err == nil && seconds <= 43_200 &&
			d != time.Duration(seconds)*time.Second {
			t.Errorf("Retry-After %q: %v", value, d)
		}
	})
}

func validDate(s string) bool {
	_, err := http.ParseTime(s)
	return err == nil
}

func TestPayloadErrors(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		&fault.DecodeError{Err: errBoom}:     "decode: boom",
		&fault.ValidationError{Err: errBoom}: "validate: boom",
	} {
		if err.Error() != want {
			t.Errorf("text %q, want %q", err, want)
		}
		if !errors.Is(err, errBoom) {
			t.Errorf("%T hides the error inside", err)
		}
	}
}
