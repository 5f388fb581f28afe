package charge_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/functions/internal/charge"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

func TestValidateRefusesInvalidCharges(t *testing.T) {
	t.Parallel()
	good := charge.Charge{ID: "ch-1", Customer: "c-1", Amount: 1250, Currency: "EUR"}
	tests := []struct {
		name   string
		change func(*charge.Charge)
		want   string // empty means valid
	}{
		{"good", func(*charge.Charge) {}, ""},
		{"no id", func(c *charge.Charge) { c.ID = "" }, "id and customer are required"},
		{"no customer", func(c *charge.Charge) { c.Customer = "" }, "id and customer are required"},
		{"an id with a space", func(c *charge.Charge) { c.ID = "ch 1" }, "printable ASCII characters without spaces"},
		{"an id that a header would trim", func(c *charge.Charge) { c.ID = "ch-1 " }, "without spaces"},
		{"an id with a line end", func(c *charge.Charge) { c.ID = "ch\n1" }, "without spaces"},
		{"a long id", func(c *charge.Charge) { c.ID = strings.Repeat("x", 256) }, "without spaces"},
		{"the longest id", func(c *charge.Charge) { c.ID = strings.Repeat("~", 254) + "!" }, ""},
		{"an id that is not ASCII", func(c *charge.Charge) { c.ID = "ch-é" }, "without spaces"},
		{"an id with a control character", func(c *charge.Charge) { c.ID = "ch-\x7f" }, "without spaces"},
		{"an id that is no text", func(c *charge.Charge) { c.ID = "ch-\xff" }, "without spaces"},
		{"no amount", func(c *charge.Charge) { c.Amount = 0 }, "in the currency's minor unit"},
		{"negative", func(c *charge.Charge) { c.Amount = -1 }, "in the currency's minor unit"},
		{"no currency", func(c *charge.Charge) { c.Currency = "" }, "ISO 4217 code such as EUR"},
		{"lower case", func(c *charge.Charge) { c.Currency = "eur" }, "ISO 4217 code such as EUR"},
		{"too long", func(c *charge.Charge) { c.Currency = "EURO" }, "ISO 4217 code such as EUR"},
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

// TestResponsesOfTheProvider tests the contract with the provider: what is sent,
// and what its responses mean.
func TestResponsesOfTheProvider(t *testing.T) {
	t.Parallel()
	var status int
	want := charge.Charge{ID: "ch-1", Customer: "c-1", Amount: 1250, Currency: "EUR"}
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got charge.Charge
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &got); err != nil || got != want || r.Method+r.URL.Path != "POST/charges" {
			t.Errorf("%s %s with %s", r.Method, r.URL, body)
		}
		if keys := r.Header["Idempotency-Key"]; len(keys) != 1 || keys[0] != want.ID ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("header %v", r.Header)
		}
		w.Header().Set("Retry-After", "7")
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	t.Cleanup(provider.Close)
	create := asJob(newProvider(t, provider.URL))
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
		{301, fault.ClassRetryable, "environment"},
		{302, fault.ClassRetryable, "environment"},
		{303, fault.ClassRetryable, "environment"},
		{202, fault.ClassUnclassified, "unclassified"},
		{204, fault.ClassUnclassified, "unclassified"},
	} {
		status = tt.status
		d := fault.Classify(t.Context(), create(want))
		if d.Class != tt.class || d.Reason != tt.reason {
			t.Errorf("%d: %v %s, want %v %s", tt.status, d.Class, d.Reason, tt.class, tt.reason)
		}
		waits := d.RetryAfter.Seconds() == 7
		if tt.class == fault.ClassRetryable && !waits || tt.class == fault.ClassPermanent && waits {
			t.Errorf("%d: retry after %v", tt.status, d.RetryAfter)
		}
	}
	for _, status = range []int{200, 201} {
		if err := create(want); err != nil {
			t.Errorf("%d: %v, want success", status, err)
		}
	}
}

// asJob makes each charge as a job whose key is the id of the charge.
func asJob(p *charge.Provider) func(charge.Charge) error {
	return func(c charge.Charge) (err error) {
		quiet := slog.New(slog.DiscardHandler)
		ledger, _ := idem.New(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id"), Logger: quiet})
		job := handler.Func(func(ctx context.Context, _ *handler.Message) error {
			err = p.Charge(ctx, c)
			return nil
		})
		processor, _ := handler.NewProcessor(job, &handler.Options{Ledger: ledger, Logger: quiet})
		body, _ := json.Marshal(c)
		record := events.SQSMessage{MessageId: "m1", Body: string(body)}
		_, _ = processor.Handle(context.Background(), events.SQSEvent{Records: []events.SQSMessage{record}})
		return err
	}
}

// When a connection breaks, the job is retried, not the request by net/http.
func TestABrokenConnectionRetriesTheJobNotTheRequest(t *testing.T) {
	t.Parallel()
	arrived := 0
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if arrived++; arrived > 1 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(provider.Close)
	create := asJob(newProvider(t, provider.URL))
	c := charge.Charge{ID: "ch-1", Customer: "c-1", Amount: 1250, Currency: "EUR"}
	if err := create(c); err != nil {
		t.Fatal(err)
	}
	if d := fault.Classify(t.Context(), create(c)); d.Class != fault.ClassRetryable {
		t.Errorf("%v %s, want a retryable error", d.Class, d.Reason)
	}
	provider.Close()
	if arrived != 2 {
		t.Errorf("%d charges arrived, want each once", arrived)
	}
}

func newProvider(t *testing.T, url string) *charge.Provider {
	t.Helper()
	p, err := charge.NewProvider(url)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAProviderNeedsAURL(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "payments.example.com", "http://bad host", "https://"} {
		if _, err := charge.NewProvider(base); err == nil || !strings.Contains(err.Error(), "PAYMENT_URL is") {
			t.Errorf("%q: error %v, want one that names PAYMENT_URL", base, err)
		}
	}
}

func TestAnUnreachableProviderIsRetried(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	d := fault.Classify(t.Context(), newProvider(t, server.URL).Charge(t.Context(), charge.Charge{}))
	if d.Class != fault.ClassRetryable || d.Reason != fault.ReasonConnection {
		t.Errorf("%v %s, want a retryable connection error", d.Class, d.Reason)
	}
}

// Without a ledger the charge has no key, and nobody refuses to follow.
func TestARedirectFollowedIsNoCharge(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			http.Redirect(w, r, "/login", http.StatusFound)
		}
	}))
	t.Cleanup(provider.Close)
	err := newProvider(t, provider.URL).Charge(t.Context(), charge.Charge{})
	if d := fault.Classify(t.Context(), err); d.Class != fault.ClassRetryable || d.Reason != fault.ReasonEnvironment {
		t.Errorf("%v: %v %s, want the environment's fault", err, d.Class, d.Reason)
	}
}
