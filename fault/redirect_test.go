package fault_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
)

// redirecting answers at /302 and its like with that status and a Location that
// names the rest of the path, and with 200 everywhere else.
func redirecting(t *testing.T) (host string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		status, err := strconv.Atoi(first)
		if err != nil {
			return
		}
		w.Header().Set("Retry-After", "7")
		if rest != "" {
			w.Header().Set("Location", "/"+rest+"?token=secret#there")
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://")
}

// ask makes the request with the client and checks the answer.
func ask(t *testing.T, client *http.Client, method, url string, body io.Reader) error {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return fault.CheckResponse(resp)
}

func TestRedirectsThatAClientFollows(t *testing.T) {
	t.Parallel()
	host := redirecting(t)
	for _, tt := range []struct {
		methods, path string
		lost          string // the path whose redirect lost the method; empty for none
		status        int    // of that redirect
	}{
		{"POST PUT PATCH DELETE OPTIONS PURGE", "/301/done", "/301/done", 301},
		{"POST PUT PATCH DELETE", "/302/done", "/302/done", 302},
		{"POST PUT PATCH DELETE", "/303/done", "/303/done", 303},
		{"POST PUT PATCH DELETE", "/307/done", "", 0},
		{"POST PUT PATCH DELETE", "/308/done", "", 0},
		{"GET HEAD", "/301/302/303/307/308/done", "", 0},
		{"POST", "/307/308/302/done", "/302/done", 302},
		{"POST", "/303/307/301/done", "/303/307/301/done", 303},
		{"POST", "/302/404", "/302/404", 302}, // the job is not dead by the 404 of a page that it did not ask for
		{"POST", "/302/503", "/302/503", 302},
		{"POST", "/302/300", "/302/300", 302},
	} {
		for method := range strings.FieldsSeq(tt.methods) {
			var body io.Reader
			if method != http.MethodGet && method != http.MethodHead { // they would lose it, see below
				body = strings.NewReader("a")
			}
			err := ask(t, http.DefaultClient, method, "http://"+host+tt.path, body)
			if tt.lost == "" {
				if err != nil {
					t.Errorf("%s %s: %v, want success", method, tt.path, err)
				}
				continue
			}
			_, next, _ := strings.Cut(tt.lost[1:], "/")
			wantRedirect(t, err, &fault.HTTPError{
				Status: tt.status, Method: method, Host: host, Path: tt.lost, Delay: 7e9,
				Location: "http://" + host + "/" + next, FollowedAs: "GET",
			})
		}
	}
}

// wantRedirect fails unless err is the redirect, which nobody's attempts pay for.
func wantRedirect(t *testing.T, err error, want *fault.HTTPError) {
	t.Helper()
	got, _ := errors.AsType[*fault.HTTPError](err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s %s (-want +got):\n%s", want.Method, want.Path, diff)
	}
	d := fault.Classify(t.Context(), err)
	if d.Rule != "http.redirect" || d.Class != retryable || d.Reason != fault.ReasonEnvironment {
		t.Errorf("%s %s: %+v, want the environment by http.redirect", want.Method, want.Path, d)
	}
}

// A request that starts something may have no body, and is lost with its method.
func TestARedirectMayNotDropTheMethod(t *testing.T) {
	t.Parallel()
	host := redirecting(t)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		for _, status := range []int{301, 302, 303} {
			path := "/" + strconv.Itoa(status) + "/done"
			wantRedirect(t, ask(t, http.DefaultClient, method, "http://"+host+path, nil), &fault.HTTPError{
				Status: status, Method: method, Host: host, Path: path, Delay: 7e9,
				Location: "http://" + host + "/done", FollowedAs: "GET",
			})
		}
	}
}

func TestARedirectMayNotDropTheBody(t *testing.T) {
	t.Parallel()
	host := redirecting(t)
	for _, status := range []int{301, 302, 303} {
		path := "/" + strconv.Itoa(status) + "/done"
		wantRedirect(t, ask(t, http.DefaultClient, http.MethodGet, "http://"+host+path, strings.NewReader("query")),
			&fault.HTTPError{
				Status: status, Method: "GET", Host: host, Path: path, Delay: 7e9,
				Location: "http://" + host + "/done", FollowedAs: "GET",
			})
	}
}

func TestRedirectsByTheClientsOwnRules(t *testing.T) {
	t.Parallel()
	host := redirecting(t)
	url := "http://" + host + "/302/done"
	follow := func(method, body string) *http.Client {
		return &http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			r.Method = method
			if body != "" {
				r.Body = io.NopCloser(strings.NewReader(body))
			}
			return nil
		}}
	}
	if err := ask(t, follow("POST", "a"), http.MethodPost, url, strings.NewReader("a")); err != nil {
		t.Errorf("followed as it was sent: %v, want success", err)
	}
	if err := ask(t, follow("POST", ""), http.MethodPost, url, nil); err != nil {
		t.Errorf("followed as it was sent, without a body: %v, want success", err)
	}
	want := &fault.HTTPError{
		Status: 302, Method: "POST", Host: host, Path: "/302/done", Delay: 7e9, Location: "http://" + host + "/done",
	}
	for method, body := range map[string]string{"POST": "", "PUT": "a", "HEAD": ""} {
		want.FollowedAs = method
		wantRedirect(t, ask(t, follow(method, body), http.MethodPost, url, strings.NewReader("a")), want)
	}
}

func TestARedirectThatNobodyFollows(t *testing.T) {
	t.Parallel()
	host := redirecting(t)
	stays := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, method := range []string{"POST", "DELETE", "GET", "HEAD"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			path := "/" + strconv.Itoa(status) + "/done"
			wantRedirect(t, ask(t, stays, method, "http://"+host+path, nil), &fault.HTTPError{
				Status: status, Method: method, Host: host, Path: path, Delay: 7e9, Location: "http://" + host + "/done",
			})
		}
	}
	// net/http follows none without a Location, and no 307 whose body it cannot have again.
	wantRedirect(t, ask(t, http.DefaultClient, "POST", "http://"+host+"/302", nil), &fault.HTTPError{
		Status: 302, Method: "POST", Host: host, Path: "/302", Delay: 7e9,
	})
	stream := struct{ io.Reader }{strings.NewReader("a")}
	wantRedirect(t, ask(t, http.DefaultClient, "POST", "http://"+host+"/307/done", stream), &fault.HTTPError{
		Status: 307, Method: "POST", Host: host, Path: "/307/done", Delay: 7e9, Location: "http://" + host + "/done",
	})
}

func TestALocationIsTold(t *testing.T) {
	t.Parallel()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://pay.example/charges", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		status         int
		location, want string
	}{
		{301, "https://pay.example/charges", "https://pay.example/charges"},
		{302, "//login.example:8443/a%2Fb", "http://login.example:8443/a%2Fb"},
		{302, "https://user:secret@login.example/?token=secret#there", "https://login.example/"},
		{303, "charges/7", "http://pay.example/charges/7"},
		{307, "", ""},
		{308, "http://bad host/", ""},
		{308, "\x00", ""},
		{201, "/charges/7", ""}, // where the new thing is
		{503, "/status", ""},
	} {
		resp := &http.Response{StatusCode: tt.status, Request: request, Header: http.Header{"Location": {tt.location}}}
		got, _ := errors.AsType[*fault.HTTPError](fault.CheckResponse(resp))
		if got == nil {
			got = &fault.HTTPError{}
		}
		if got.Location != tt.want {
			t.Errorf("%d to %q: %q, want %q", tt.status, tt.location, got.Location, tt.want)
		}
	}
}

// A fake may leave out what net/http fills in.
func TestRedirectsWithoutTheirRequests(t *testing.T) {
	t.Parallel()
	get := &http.Request{}
	for _, req := range []*http.Request{
		nil, get, {Response: &http.Response{}}, {Response: &http.Response{Request: get}},
		{Method: "GET", Response: &http.Response{Request: &http.Request{Method: "HEAD"}}},
		{Method: "POST", Response: &http.Response{Request: get}}, // sent on by the caller
	} {
		if err := fault.CheckResponse(&http.Response{StatusCode: http.StatusOK, Request: req}); err != nil {
			t.Errorf("%+v: %v, want success", req, err)
		}
	}
	lost := &http.Request{Response: &http.Response{Request: &http.Request{Method: "POST"}}}
	want := &fault.HTTPError{FollowedAs: "GET"} // a request without a URL is not told
	got := fault.CheckResponse(&http.Response{StatusCode: http.StatusOK, Request: lost})
	if diff := cmp.Diff(error(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
