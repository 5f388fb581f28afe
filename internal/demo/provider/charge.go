package provider

import (
	"encoding/json"
	"errors"
	"time"
)

// Charge is a charge that was made.
type Charge struct {
	// Key is the Idempotency-Key of the charge; empty if the caller sent none.
	Key      string `json:"key,omitempty"`
	ID       string `json:"id"`
	Customer string `json:"customer"`
	// Amount is in the currency's minor units.
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	// Time is when the charge was made.
	Time time.Time `json:"time"`
}

// order is a request for a charge. Two requests with the same key must be
// equal.
type order struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

func decodeOrder(body []byte) (order, error) {
	var o order
	if err := json.Unmarshal(body, &o); err != nil {
		return order{}, err
	}
	switch {
	case o.ID == "":
		return order{}, errors.New("id is missing")
	case o.Customer == "":
		return order{}, errors.New("customer is missing")
	case o.Amount <= 0:
		return order{}, errors.New("amount must be above 0, in minor units")
	case len(o.Currency) != 3:
		return order{}, errors.New("currency must be a code of three letters")
	}
	return o, nil
}

func (c Charge) order() order {
	return order{ID: c.ID, Customer: c.Customer, Amount: c.Amount, Currency: c.Currency}
}
