package idem_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/idem"
)

// arrival is a request as a server got it.
type arrival struct{ Method, Path, Key, Body string }

// movedAway is a provider that has moved to another host: it answers at /302
// and its like with that status. It returns its URL and, when called, what has
// arrived at both.
func movedAway(t *testing.T) (url string, arrived func() []arrival) {
	t.Helper()
	got := make(chan arrival, 9)
	note := func(r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- arrival{r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"), string(body)}
	}
	moved := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { note(r) }))
	t.Cleanup(moved.Close)
	to := strings.Replace(moved.URL, "127.0.0.1", "localhost", 1) + "/moved"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		w.Header().Set("Location", to)
		status, _ := strconv.Atoi(r.URL.Path[1:])
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() (all []arrival) {
		for len(got) > 0 {
			all = append(all, <-got)
		}
		return all
	}
}

// do makes the request and checks its answer.
func do(ctx context.Context, client *http.Client, method, url, body string) error {
	r := newRequest(ctx, method, url, body)
	if body == "" {
		r.Body, r.GetBody = http.NoBody, nil
	}
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return fault.CheckResponse(resp)
}

// wantLost fails unless err is the redirect that the method was lost at, and
// nobody's attempts pay for it.
func wantLost(t *testing.T, err error, method string, status int) {
	t.Helper()
	got, ok := errors.AsType[*fault.HTTPError](err)
	if !ok || got.Status != status || got.Method != method || got.FollowedAs != http.MethodGet ||
		!strings.HasSuffix(got.Location, "/moved") {
		t.Errorf("%s, answered by %d: %v, want the redirect", method, status, err)
	}
	if d := fault.Classify(t.Context(), err); d.Class != fault.ClassRetryable || d.Reason != fault.ReasonEnvironment {
		t.Errorf("%s, answered by %d: %+v, want the environment's fault", method, status, d)
	}
}

func TestARedirectThatLosesTheMethodIsRefused(t *testing.T) {
	t.Parallel()
	url, arrived := movedAway(t)
	client := &http.Client{Transport: idem.Transport{}}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "PURGE"} {
		for _, status := range []int{301, 302, 303} {
			path := "/" + strconv.Itoa(status)
			for _, body := range []string{"", "a"} {
				runAs(t, "ch-1", func(ctx context.Context) {
					wantLost(t, do(ctx, client, method, url+path, body), method, status)
				})
				want := []arrival{{method, path, "charges#ch-1", body}}
				if diff := cmp.Diff(want, arrived()); diff != "" {
					t.Errorf("%s with body %q, answered by %d (-want +arrived):\n%s", method, body, status, diff)
				}
			}
		}
	}
}

func TestARedirectThatKeepsTheMethodTakesTheKeyAlong(t *testing.T) {
	t.Parallel()
	url, arrived := movedAway(t)
	client := &http.Client{Transport: idem.Transport{}}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		for _, status := range []int{307, 308} {
			path := "/" + strconv.Itoa(status)
			runAs(t, "ch-1", func(ctx context.Context) {
				if err := do(ctx, client, method, url+path, "a"); err != nil {
					t.Errorf("%s, answered by %d: %v, want success", method, status, err)
				}
			})
			want := []arrival{{method, path, "charges#ch-1", "a"}, {method, "/moved", "charges#ch-1", "a"}}
			if diff := cmp.Diff(want, arrived()); diff != "" {
				t.Errorf("%s, answered by %d (-want +arrived):\n%s", method, status, diff)
			}
		}
	}
}

func TestRedirectsOfRequestsThatChangeNothing(t *testing.T) {
	t.Parallel()
	url, arrived := movedAway(t)
	client := &http.Client{Transport: idem.Transport{}}
	for _, method := range []string{"GET", "HEAD"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			runAs(t, "ch-1", func(ctx context.Context) {
				if err := do(ctx, client, method, url+"/"+strconv.Itoa(status), ""); err != nil {
					t.Errorf("%s, answered by %d: %v, want success", method, status, err)
				}
			})
			if got := arrived(); len(got) != 2 || got[1] != (arrival{Method: method, Path: "/moved"}) {
				t.Errorf("%s, answered by %d: arrived %v, want it at both", method, status, got)
			}
		}
	}
}

func TestRedirectsByTheClientsOwnRules(t *testing.T) {
	t.Parallel()
	url, arrived := movedAway(t)
	for name, c := range map[string]struct {
		rule func(*http.Request, []*http.Request) error
		want string // rule that knows the error; empty for success
		then []arrival
	}{
		"the method and the body are restored": {func(r *http.Request, via []*http.Request) error {
			r.Method, r.Body = via[0].Method, io.NopCloser(strings.NewReader("a"))
			return nil
		}, "", []arrival{{"POST", "/moved", "charges#ch-1", "a"}}},
		"only the method is restored": {func(r *http.Request, via []*http.Request) error {
			r.Method = via[0].Method
			return nil
		}, "http.redirect", nil},
		"the redirect is the answer": {func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}, "http.redirect", nil},
		"redirects are an error": {func(*http.Request, []*http.Request) error {
			return errBase
		}, fault.RuleUnknown, nil},
	} {
		client := &http.Client{Transport: idem.Transport{}, CheckRedirect: c.rule}
		runAs(t, "ch-1", func(ctx context.Context) {
			err := do(ctx, client, http.MethodPost, url+"/302", "a")
			if got := fault.Classify(ctx, err).Rule; got != c.want {
				t.Errorf("%s: %v (%s), want %q", name, err, got, c.want)
			}
		})
		if diff := cmp.Diff(c.then, arrived()[1:], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: after the redirect (-want +arrived):\n%s", name, diff)
		}
	}
}

// Nobody's job is at stake, and other requests of the client may want to be
// redirected. Who checks the answer is told.
func TestOutsideOfAJobRedirectsAreFollowed(t *testing.T) {
	t.Parallel()
	url, arrived := movedAway(t)
	client := &http.Client{Transport: idem.Transport{}}
	wantLost(t, do(t.Context(), client, http.MethodPost, url+"/303", "a"), http.MethodPost, 303)
	want := []arrival{{"POST", "/303", "", "a"}, {"GET", "/moved", "", ""}}
	if diff := cmp.Diff(want, arrived()); diff != "" {
		t.Errorf("(-want +arrived):\n%s", diff)
	}
}

// forgetful is a transport whose responses do not name their requests.
type forgetful struct{}

func (forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		resp.Request = nil
	}
	return resp, err
}

func TestARedirectIsRefusedBehindAnyBase(t *testing.T) {
	t.Parallel()
	url, arrived := movedAway(t)
	client := &http.Client{Transport: idem.Transport{Base: forgetful{}}}
	runAs(t, "ch-1", func(ctx context.Context) {
		wantLost(t, do(ctx, client, http.MethodPost, url+"/301", "a"), http.MethodPost, 301)
	})
	if got := arrived(); len(got) != 1 {
		t.Errorf("arrived %v, want the first request only", got)
	}
}

// closed notes that it was closed, as a transport has to see to.
type closed struct {
	io.Reader
	yes bool
}

func (c *closed) Close() error { c.yes = true; return nil }

func TestTheBodyOfARefusedRequestIsClosed(t *testing.T) {
	t.Parallel()
	body := &closed{Reader: strings.NewReader("a")}
	runAs(t, "ch-1", func(ctx context.Context) {
		r := newRequest(ctx, http.MethodPut, "http://provider/moved", "")
		r.Body = body
		r.Response = &http.Response{
			StatusCode: http.StatusFound,
			Request:    newRequest(ctx, http.MethodPost, "http://provider/charges", "a"),
		}
		_, err := idem.Transport{Base: base(func(*http.Request) { t.Error("the request went out") })}.RoundTrip(r)
		if _, ok := errors.AsType[*fault.HTTPError](err); !ok || !body.yes {
			t.Errorf("error %v, body closed: %t; want the redirect, and the body closed", err, body.yes)
		}
	})
}
