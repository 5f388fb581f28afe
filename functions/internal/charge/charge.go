// Package charge charges customers, once for each id. The Lambda function and
// the worker share it.
package charge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/idem"
)

// Charge is the payload of a job. Amount is in the currency's minor unit.
type Charge struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// maxID is the greatest length of an id in bytes.
const maxID = 255

// fitsHeader reports whether a text can be sent in a header, which would lose or refuse
// other characters.
func fitsHeader(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// isCurrency reports whether a text has the form of an ISO 4217 code.
func isCurrency(s string) bool {
	return len(s) == len("EUR") && !strings.ContainsFunc(s, func(r rune) bool { return r < 'A' || r > 'Z' })
}

// Validate says what is missing or wrong. It does not show the values, since
// its errors are logged.
func (c Charge) Validate() error {
	switch {
	case c.ID == "" || c.Customer == "":
		return errors.New("id and customer are required")
	case len(c.ID) > maxID || !fitsHeader(c.ID):
		return errors.New("id must be 1 to 255 printable ASCII characters without spaces")
	case c.Amount <= 0:
		return errors.New("amount must be over 0, in the currency's minor unit")
	case !isCurrency(c.Currency):
		return errors.New("currency must be an ISO 4217 code such as EUR")
	}
	return nil
}

// panicCustomer is a customer whose charge panics. It shows what becomes of a job that
// crashes its process: see events/panic.json. A function of your own has no such line.
const panicCustomer = "c-panic"

// Provider makes charges over HTTP. It is safe for concurrent use.
type Provider struct {
	url    string
	client *http.Client
}

// NewProvider returns the provider at a base URL, or an error if it is not a
// URL.
func NewProvider(base string) (*Provider, error) {
	if u, err := url.Parse(base); err != nil || u.Host == "" {
		return nil, fmt.Errorf("PAYMENT_URL is %q; set it to the provider's URL, such as https://payments.example.com", base)
	}
	return &Provider{url: base + "/charges", client: &http.Client{Transport: idem.Transport{}}}, nil
}

// Charge has the provider make the charge, under the job's idempotency key. The
// client's transport adds it, and refuses to follow a redirect by a GET, which
// would charge nobody and succeed.
func (p *Provider) Charge(ctx context.Context, c Charge) error {
	if c.Customer == panicCustomer {
		panic("a charge of " + panicCustomer)
	}
	body, _ := json.Marshal(c)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return classify(resp)
}

// classify applies the provider's contract: it charges with 200 and 201 only, and all
// that it calls its own fault, 501 included, passes.
func classify(resp *http.Response) error {
	err := fault.CheckResponse(resp)
	switch {
	case resp.StatusCode >= http.StatusInternalServerError:
		return fault.Retryable(err, fault.WithReason(fault.ReasonUnavailable))
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated:
		return fmt.Errorf("HTTP %s does not say that the charge was made", resp.Status)
	}
	return nil
}
