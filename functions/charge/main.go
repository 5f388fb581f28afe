// Command charge is a Lambda function that charges customers, once for each id.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/idem"
)

// Charge is the job. Amount is in the currency's minor unit.
type Charge struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

var currency = regexp.MustCompile(`^[A-Z]{3}$`)

// Validate tells what is missing or wrong.
func (c Charge) Validate() error {
	switch {
	case c.ID == "" || c.Customer == "":
		return fmt.Errorf("id and customer are required")
	case c.Amount <= 0 || !currency.MatchString(c.Currency):
		return fmt.Errorf("want an amount over 0 and an ISO 4217 currency, got %d %q", c.Amount, c.Currency)
	}
	return nil
}

func charge(ctx context.Context, c Charge) error {
	body, _ := json.Marshal(c)
	url := os.Getenv("PAYMENT_URL") + "/charges"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.GetBody = nil // else net/http resends at once what carries an Idempotency-Key
	req.Header = http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {idem.Key(ctx)}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusInternalServerError {
		return fault.Retryable(fault.CheckResponse(resp), fault.Reason(fault.ReasonUnavailable))
	}
	return fault.CheckResponse(resp)
}

func main() { sqsafe.Start(charge, sqsafe.KeyField("id")) }
