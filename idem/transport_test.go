package idem_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// runAs runs f as the job with that key of the queue "charges".
func runAs(t testing.TB, key string, f func(context.Context)) {
	t.Helper()
	runOf(t, "charges", key, f)
}

// runOf runs f as the job with that key of a queue.
func runOf(t testing.TB, queue, key string, f func(context.Context)) {
	t.Helper()
	o := &idem.Options{Key: func(context.Context, *handler.Message) (string, error) { return key, nil }}
	ledger, err := idem.New(idem.NewMemory(), o)
	if err != nil {
		t.Fatal(err)
	}
	m := message("m1", "a")
	m.EventSourceARN = "arn:aws:sqs:eu-central-1:123456789012:" + queue
	id, err := ledger.Identify(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	a := ledger.Claim(t.Context(), m, id, time.Now().Add(time.Minute))
	if a.Claim == nil {
		t.Fatalf("the job is not claimed: %v", a.Decided)
	}
	ctx, stop := a.Claim.Run(t.Context())
	defer stop()
	f(ctx)
}

// provider remembers the requests that it gets.
type provider struct {
	*httptest.Server
	client *http.Client
	got    chan *http.Request // with its body read
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{got: make(chan *http.Request, 9)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		p.got <- r
	}))
	t.Cleanup(p.Close)
	p.client = &http.Client{Transport: idem.Transport{Base: p.Client().Transport}}
	return p
}

// send makes the request and gives it as it arrived.
func (p *provider) send(t *testing.T, r *http.Request) *http.Request {
	t.Helper()
	resp, err := p.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return <-p.got
}

func newRequest(ctx context.Context, method, url, body string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	return r
}

func TestTheKeyIsPassedOnWithWhatChangesSomething(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	for method, want := range map[string][]string{
		"POST": {"charges#ch-1"}, "PUT": {"charges#ch-1"}, "PATCH": {"charges#ch-1"}, "DELETE": {"charges#ch-1"},
		"PURGE": {"charges#ch-1"},
		"GET":   nil, "HEAD": nil, "OPTIONS": nil, "TRACE": nil, "": nil,
	} {
		for _, body := range []string{"", "amount=1250"} {
			runAs(t, "ch-1", func(ctx context.Context) {
				got := p.send(t, newRequest(ctx, method, p.URL, body))
				if diff := cmp.Diff(want, got.Header["Idempotency-Key"]); diff != "" {
					t.Errorf("%q with body %q: header (-want +got):\n%s", method, body, diff)
				}
				if arrived, _ := io.ReadAll(got.Body); string(arrived) != body {
					t.Errorf("%q: body is %q, want %q", method, arrived, body)
				}
			})
		}
	}
}

func TestARequestKeepsTheHeaderThatItHas(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	for _, name := range []string{"Idempotency-Key", "idempotency-key"} {
		runAs(t, "ch-1", func(ctx context.Context) {
			r := newRequest(ctx, http.MethodPost, p.URL, "a")
			r.Header[name] = []string{"its own"}
			if diff := cmp.Diff([]string{"its own"}, p.send(t, r).Header["Idempotency-Key"]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
}

func TestWithoutAKeyARequestGoesOutAsItIs(t *testing.T) {
	t.Parallel()
	sent := newRequest(t.Context(), http.MethodPost, "http://provider", "a")
	_, err := idem.Transport{Base: base(func(r *http.Request) {
		if r != sent {
			t.Error("the request was copied")
		}
	})}.RoundTrip(sent)
	if !errors.Is(err, errBase) {
		t.Errorf("error is %v, want that of the base", err)
	}
}

var errBase = errors.New("no network")

// base shows what the transport hands on, and fails.
type base func(*http.Request)

func (b base) RoundTrip(r *http.Request) (*http.Response, error) {
	b(r)
	return nil, errBase
}

func TestTheCallersRequestIsNotChanged(t *testing.T) {
	t.Parallel()
	for _, header := range []http.Header{nil, {}, {"Accept": {"text/plain"}}} {
		for _, body := range []string{"", "a"} {
			runAs(t, "ch-1", func(ctx context.Context) {
				r := newRequest(ctx, http.MethodPost, "http://provider", body)
				r.Header = header
				before := *r
				before.Header = header.Clone()
				_, _ = idem.Transport{Base: base(func(out *http.Request) {
					if out.Header.Get("Idempotency-Key") != "charges#ch-1" || out.GetBody != nil {
						t.Errorf("handed on with the header %v, body again %t", out.Header, out.GetBody != nil)
					}
				})}.RoundTrip(r)
				if r.Body != before.Body || (r.GetBody == nil) != (before.GetBody == nil) {
					t.Error("the caller's body was changed")
				}
				if diff := cmp.Diff(before.Header, r.Header); diff != "" {
					t.Errorf("the caller's header was changed (-before +after):\n%s", diff)
				}
			})
		}
	}
}

func TestTheZeroTransportUsesTheDefault(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.client = &http.Client{Transport: idem.Transport{}}
	runAs(t, "ch-1", func(ctx context.Context) {
		got := p.send(t, newRequest(ctx, http.MethodPost, p.URL, "a")).Header.Get("Idempotency-Key")
		if got != "charges#ch-1" {
			t.Errorf("header is %q, want charges#ch-1", got)
		}
	})
}

// A connection that breaks under a request is where net/http would send it again.
func TestARequestWithTheKeyIsSentOnce(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		for name, body := range map[string]io.Reader{"a body": strings.NewReader("a"), "no body": nil, "": http.NoBody} {
			t.Run(method+" with "+name, func(t *testing.T) {
				t.Parallel()
				arrived := 0
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if arrived++; arrived > 1 {
						hangUp(w)
					}
				}))
				defer server.Close()
				client := &http.Client{Transport: idem.Transport{Base: server.Client().Transport}}
				runAs(t, "ch-1", func(ctx context.Context) {
					resp, err := client.Do(newRequest(ctx, http.MethodPost, server.URL, "")) // opens the connection
					if err != nil {
						t.Fatal(err)
					}
					_ = resp.Body.Close()
					r, _ := http.NewRequestWithContext(ctx, method, server.URL, body)
					if resp, err = client.Do(r); err == nil {
						_ = resp.Body.Close()
						t.Error("the connection broke, and the request succeeded")
					}
				})
				server.Close()
				if arrived != 2 {
					t.Errorf("the request arrived %d times, want once", arrived-1)
				}
			})
		}
	}
}

// hangUp breaks the connection in the middle of a request.
func hangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func TestKeysThatAHeaderWouldChangeAreHashed(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.client.Transport = idem.Transport{Base: p.Client().Transport, Scope: idem.ScopeKey}
	for key, kept := range map[string]bool{
		"ch-1": true, "order 7": true, `"quoted", and;so=on`: true, strings.Repeat("x", 255): true,
		strings.Repeat("x", 256): false, " ch-1": false, "ch-1 ": false, "ch\n1": false, "ch\t1": false,
		"ch\x001": false, "ch\x7f": false, "Zoë": false, " ": false,
	} {
		runAs(t, key, func(ctx context.Context) {
			got := p.send(t, newRequest(ctx, http.MethodPost, p.URL, "a")).Header.Get("Idempotency-Key")
			if kept && got != key || !kept && !hexDigits(got, 64) {
				t.Errorf("key %q was sent as %q, want it kept: %t", key, got, kept)
			}
		})
	}
}

func hexDigits(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

func TestEveryKeyTravelsAsOneHeader(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a, b := rapid.String().Draw(rt, "key"), rapid.String().Draw(rt, "other")
		first, again, other := header(t, a), header(t, a), header(t, b)
		if first != again || (first == other) != (a == b) {
			rt.Fatalf("%q: %q then %q, and %q: %q", a, first, again, b, other)
		}
		if len(first) > 255 || first != strings.TrimSpace(first) || strings.Trim(first, printable) != "" {
			rt.Fatalf("%q is sent as %q", a, first)
		}
	})
}

const printable = ` !"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_` + "`abcdefghijklmnopqrstuvwxyz{|}~"

// header is what a job with the key sends; empty for an empty key, which runs no job.
func header(t *testing.T, key string) (sent string) {
	t.Helper()
	if key == "" {
		return ""
	}
	runAs(t, key, func(ctx context.Context) {
		_, _ = idem.Transport{Base: base(func(r *http.Request) {
			sent = r.Header.Get("Idempotency-Key")
		})}.RoundTrip(newRequest(ctx, http.MethodPost, "http://provider", "a"))
	})
	return sent
}

// passedOn is all that a job passes on.
func passedOn(ctx context.Context) (all []string) {
	_, _ = idem.Transport{Base: base(func(r *http.Request) {
		all = r.Header["Idempotency-Key"]
	})}.RoundTrip(newRequest(ctx, http.MethodPost, "http://provider", "a"))
	return append(all, idem.ClientRequestToken(ctx), idem.DeduplicationID(ctx), idem.SQLKey(ctx, 64))
}

func TestAllIsTheSameAtEveryAttemptAndReplay(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		var seen [][]string
		h.job = func(ctx context.Context, _ *handler.Message) error {
			seen = append(seen, passedOn(ctx))
			return errTimeout
		}
		h.deliver(message("m1", "a"))
		pass(time.Hour)
		h.deliver(message("m1", "a"))
		pass(time.Hour)
		h.deliver(h.replayed("m2", "a", handler.Replay{MessageID: "m1"}))
		if len(seen) != 3 {
			h.Fatalf("the job ran %d times, want 3", len(seen))
		}
		for _, again := range seen[1:] {
			if diff := cmp.Diff(seen[0], again); diff != "" {
				h.Errorf("what is passed on differs (-first +later):\n%s", diff)
			}
		}
	})
}
