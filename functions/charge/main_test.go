package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/fault"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	good := Charge{ID: "ch-1", Customer: "c-1", Amount: 1250, Currency: "EUR"}
	tests := []struct {
		name   string
		change func(*Charge)
		want   string // empty: valid
	}{
		{"good", func(*Charge) {}, ""},
		{"no id", func(c *Charge) { c.ID = "" }, "id and customer are required"},
		{"no customer", func(c *Charge) { c.Customer = "" }, "id and customer are required"},
		{"no amount", func(c *Charge) { c.Amount = 0 }, `got 0 "EUR"`},
		{"negative", func(c *Charge) { c.Amount = -1 }, `got -1 "EUR"`},
		{"no currency", func(c *Charge) { c.Currency = "" }, `got 1250 ""`},
		{"lower case", func(c *Charge) { c.Currency = "eur" }, `got 1250 "eur"`},
		{"too long", func(c *Charge) { c.Currency = "EURO" }, `got 1250 "EURO"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := good
			tt.change(&c)
			err := c.Validate()
			if (err == nil) != (tt.want == "") || err != nil && !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestAnswersOfTheProvider is the contract with the provider: what is sent, and
// what its answers mean.
func TestAnswersOfTheProvider(t *testing.T) {
	var status int
	want := Charge{ID: "ch-1", Customer: "c-1", Amount: 1250, Currency: "EUR"}
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got Charge
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &got); err != nil || got != want || r.Method+r.URL.Path != "POST/charges" {
			t.Errorf("%s %s with %s", r.Method, r.URL, body)
		}
		if _, sent := r.Header["Idempotency-Key"]; !sent || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("header %v", r.Header)
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
	}))
	t.Cleanup(provider.Close)
	t.Setenv("PAYMENT_URL", provider.URL)
	for _, tt := range []struct {
		status int
		class  fault.Class
		reason string
	}{
		{402, fault.ClassPermanent, "rejected"},
		{404, fault.ClassPermanent, "not_found"},
		{422, fault.ClassPermanent, "rejected"},
		{408, fault.ClassRetryable, "timeout"},
		{429, fault.ClassRetryable, "rate_limited"},
		{500, fault.ClassRetryable, "unavailable"},
		{501, fault.ClassRetryable, "unavailable"},
		{503, fault.ClassRetryable, "unavailable"},
		{300, fault.ClassUnclassified, "unclassified"},
	} {
		status = tt.status
		d := fault.Classify(t.Context(), charge(t.Context(), want))
		if d.Class != tt.class || d.Reason != tt.reason {
			t.Errorf("%d: %v %s, want %v %s", tt.status, d.Class, d.Reason, tt.class, tt.reason)
		}
		if waits := tt.class == fault.ClassRetryable; waits != (d.RetryAfter.Seconds() == 7) {
			t.Errorf("%d: retry after %v", tt.status, d.RetryAfter)
		}
	}
	for _, status = range []int{200, 201} {
		if err := charge(t.Context(), want); err != nil {
			t.Errorf("%d: %v, want success", status, err)
		}
	}
}

func TestABrokenProviderURLIsAnError(t *testing.T) {
	t.Setenv("PAYMENT_URL", "http://bad host")
	if err := charge(t.Context(), Charge{}); err == nil {
		t.Error("want an error")
	}
}
