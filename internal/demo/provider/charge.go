package provider

import (
	"encoding/json"
	"errors"
	"time"
)

// Charge is money taken from a customer.
type Charge struct {
	// Key is the Idempotency-Key that the charge was made under; empty if the
	// caller gave none.
	Key      string `json:"key,omitempty"`
	ID       string `json:"id"`
	Customer string `json:"customer"`
	// Amount is in the currency's minor units.
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	// Time is when the charge was made.
	Time time.Time `json:"time"`
}

// order is what a caller asks for, and what two calls under one key must agree on.
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
