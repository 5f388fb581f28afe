package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/internal/demo/provider"
)

// call is one request and the expected answer.
type call struct {
	key, body  string
	status     int
	reset      bool
	retryAfter string
}

func body(id, customer string) string {
	return fmt.Sprintf(`{"id":%q,"customer":%q,"amount":1250,"currency":"EUR"}`, id, customer)
}

func charged(key, id, customer string) provider.Charge {
	return provider.Charge{Key: key, ID: id, Customer: customer, Amount: 1250, Currency: "EUR"}
}

func start(t *testing.T, p *provider.Provider) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return server
}

func post(t *testing.T, server *httptest.Server, key, body string) (*http.Response, error) {
	t.Helper()
	url := server.URL + "/charges"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := server.Client().Do(request)
	if err == nil {
		t.Cleanup(func() { _ = response.Body.Close() })
	}
	return response, err
}

func TestWhichJobsEndInACharge(t *testing.T) {
	t.Parallel()
	schedule := provider.DefaultSchedule()
	for body, want := range map[string]bool{
		`{"id":"1","customer":"c-1","amount":1,"currency":"EUR"}`:     true,
		`{"id":"1","customer":"c-reset","amount":1,"currency":"EUR"}`: true,
		`{"id":"1","customer":"c-down","amount":1,"currency":"EUR"}`:  false,
		`{"id":"1","amount":1,"currency":"EUR"}`:                      false,
		`{"id":`:                                                      false,
	} {
		if id, ok := schedule.Charges([]byte(body)); ok != want || ok && id != "1" {
			t.Errorf("%s: id %q, %v, want %v", body, id, ok, want)
		}
	}
}

func TestCallsGetTheExpectedAnswers(t *testing.T) {
	t.Parallel()
	const tooMany, down, odd, unusable = 429, 503, 300, 422
	tests := []struct {
		name  string
		calls []call
		want  []provider.Charge
	}{
		{
			name:  "a customer without a fault is charged",
			calls: []call{{key: "k1", body: body("ch-1", "c-1"), status: 201}},
			want:  []provider.Charge{charged("k1", "ch-1", "c-1")},
		},
		{
			name: "a repeated key adds nothing",
			calls: []call{
				{key: "k1", body: body("ch-1", "c-1"), status: 201},
				{key: "k1", body: body("ch-1", "c-1"), status: 200},
				{key: "k1", body: " " + body("ch-1", "c-1"), status: 200},
			},
			want: []provider.Charge{charged("k1", "ch-1", "c-1")},
		},
		{
			name: "a key is for one body",
			calls: []call{
				{key: "k1", body: body("ch-1", "c-1"), status: 201},
				{key: "k1", body: body("ch-2", "c-1"), status: unusable},
			},
			want: []provider.Charge{charged("k1", "ch-1", "c-1")},
		},
		{
			name: "without a key every call charges",
			calls: []call{
				{body: body("ch-1", "c-1"), status: 201},
				{body: body("ch-1", "c-1"), status: 201},
			},
			want: []provider.Charge{charged("", "ch-1", "c-1"), charged("", "ch-1", "c-1")},
		},
		{
			name: "fails once",
			calls: []call{
				{key: "k1", body: body("ch-1", "c-busy"), status: tooMany, retryAfter: "1"},
				{key: "k1", body: body("ch-1", "c-busy"), status: 201},
				{key: "k2", body: body("ch-2", "c-busy"), status: 201},
			},
			want: []provider.Charge{charged("k1", "ch-1", "c-busy"), charged("k2", "ch-2", "c-busy")},
		},
		{
			name: "reset after charging",
			calls: []call{
				{key: "k1", body: body("ch-1", "c-reset"), reset: true},
				{key: "k1", body: body("ch-1", "c-reset"), status: 200},
			},
			want: []provider.Charge{charged("k1", "ch-1", "c-reset")},
		},
		{
			name: "reset on a connection that was used before",
			calls: []call{
				{key: "k0", body: body("ch-0", "c-1"), status: 201},
				{key: "k1", body: body("ch-1", "c-reset"), reset: true},
			},
			want: []provider.Charge{charged("k0", "ch-0", "c-1"), charged("k1", "ch-1", "c-reset")},
		},
		{
			name: "always down",
			calls: []call{
				{key: "k1", body: body("ch-1", "c-down"), status: down},
				{key: "k1", body: body("ch-1", "c-down"), status: down},
				{key: "k1", body: body("ch-1", "c-down"), status: down},
			},
		},
		{
			name: "an answer that nobody expects",
			calls: []call{
				{key: "k1", body: body("ch-1", "c-odd"), status: odd},
				{key: "k1", body: body("ch-1", "c-odd"), status: odd},
			},
		},
		{
			name: "invalid bodies",
			calls: []call{
				{body: ``, status: unusable},
				{body: `{"id":"ch-1"`, status: unusable},
				{body: body("ch-1", "c-1") + "x", status: unusable},
				{body: `{"customer":"c-1","amount":1,"currency":"EUR"}`, status: unusable},
				{body: `{"id":"ch-1","amount":1,"currency":"EUR"}`, status: unusable},
				{body: `{"id":"ch-1","customer":"c-1","amount":0,"currency":"EUR"}`, status: unusable},
				{body: `{"id":"ch-1","customer":"c-1","amount":1.5,"currency":"EUR"}`, status: unusable},
				{body: `{"id":"ch-1","customer":"c-1","amount":1}`, status: unusable},
				{body: body("ch-1", strings.Repeat("c", 100_000)), status: unusable},
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := provider.New()
			server := start(t, p)
			for i, c := range test.calls {
				check(t, server, i, c)
			}
			ignoreTime := cmpopts.IgnoreFields(provider.Charge{}, "Time")
			if diff := cmp.Diff(test.want, p.Charges(), ignoreTime, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("charges (-want +got):\n%s", diff)
			}
		})
	}
}

func check(t *testing.T, server *httptest.Server, i int, c call) {
	t.Helper()
	response, err := post(t, server, c.key, c.body)
	if c.reset {
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("call %d: error %v, want a connection reset", i, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("call %d: %v", i, err)
	}
	if response.StatusCode != c.status {
		t.Errorf("call %d: status %d, want %d", i, response.StatusCode, c.status)
	}
	if got := response.Header.Get("Retry-After"); got != c.retryAfter {
		t.Errorf("call %d: Retry-After %q, want %q", i, got, c.retryAfter)
	}
}

func TestRepeatedKeyReturnsTheFirstCharge(t *testing.T) {
	t.Parallel()
	p := provider.New()
	server := start(t, p)
	before := time.Now()
	for range 2 {
		response, err := post(t, server, "k1", body("ch-1", "c-1"))
		if err != nil {
			t.Fatal(err)
		}
		var got provider.Charge
		if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p.Charges()[0], got, cmpopts.EquateApproxTime(0)); diff != "" {
			t.Errorf("answer (-kept +got):\n%s", diff)
		}
		if got.Time.Before(before.Truncate(0)) || got.Time.After(time.Now()) {
			t.Errorf("time %v is outside the call", got.Time)
		}
	}
}

func TestRefusalSaysWhy(t *testing.T) {
	t.Parallel()
	server := start(t, provider.New())
	response, err := post(t, server, "k1", `{"id":"ch-1","amount":1,"currency":"EUR"}`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"error":"the body is no charge: customer is missing"}` + "\n"; string(got) != want {
		t.Errorf("body %q, want %q", got, want)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method, path string
		want         int
	}{
		{http.MethodGet, "/charges", http.StatusMethodNotAllowed},
		{http.MethodDelete, "/charges", http.StatusMethodNotAllowed},
		{http.MethodPost, "/", http.StatusNotFound},
		{http.MethodPost, "/charges/ch-1", http.StatusNotFound},
	}
	for _, test := range tests {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			provider.New().ServeHTTP(w, httptest.NewRequest(test.method, test.path, strings.NewReader(body("ch-1", "c-1"))))
			if w.Code != test.want {
				t.Errorf("status %d, want %d", w.Code, test.want)
			}
		})
	}
}

func TestResetWithoutAConnectionAborts(t *testing.T) {
	t.Parallel()
	p := provider.New()
	defer func() {
		if got, _ := recover().(error); !errors.Is(got, http.ErrAbortHandler) {
			t.Errorf("panic %v, want http.ErrAbortHandler", got)
		}
		if got := len(p.Charges()); got != 1 {
			t.Errorf("%d charges, want 1", got)
		}
	}()
	request := httptest.NewRequest(http.MethodPost, "/charges", strings.NewReader(body("ch-1", "c-reset")))
	p.ServeHTTP(httptest.NewRecorder(), request)
}

func TestNilScheduleFailsNoCall(t *testing.T) {
	t.Parallel()
	server := start(t, provider.NewScheduled(nil))
	for customer := range provider.DefaultSchedule() {
		check(t, server, 0, call{key: customer, body: body("ch-1", customer), status: 201})
	}
}

func TestConcurrentCallsWithOneKeyMakeOneCharge(t *testing.T) {
	t.Parallel()
	p := provider.New()
	server := start(t, p)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			response, err := post(t, server, "k1", body("ch-1", "c-1"))
			if err != nil {
				t.Error(err)
				return
			}
			if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated {
				t.Errorf("status %d", response.StatusCode)
			}
			_ = p.Charges()
		})
	}
	group.Wait()
	if got := len(p.Charges()); got != 1 {
		t.Errorf("%d charges, want 1", got)
	}
}
