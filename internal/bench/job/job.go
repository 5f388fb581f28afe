// Package job is what the compared programs do with a message: the payload and
// the work are the same for all of them.
package job

import (
	"context"
	"errors"
)

// Order is the part of the payload that the work needs. The payload has more.
type Order struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	AmountCents int    `json:"amountCents"`
	Fail        bool   `json:"fail"`
}

var errDeclined = errors.New("declined")

// Do is the work: nothing, or a failure where the order asks for one.
func Do(_ context.Context, o Order) error {
	if o.Fail {
		return errDeclined
	}
	return nil
}
