// Package job has the payload and the work of a message, which are the same for
// all compared programs.
package job

import (
	"context"
	"errors"
)

// Order is the part of the payload that the work uses. The payload has more
// members.
type Order struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	AmountCents int    `json:"amountCents"`
	Fail        bool   `json:"fail"`
}

var errDeclined = errors.New("declined")

// Do is the work: it does nothing, or fails if the order says so.
func Do(_ context.Context, o Order) error {
	if o.Fail {
		return errDeclined
	}
	return nil
}
