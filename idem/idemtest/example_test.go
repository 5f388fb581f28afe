package idemtest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// A store that cannot be reached, for the test of what then happens.
func ExampleFaulty() {
	store := &idemtest.Faulty{
		Store: idem.NewMemory(),
		Before: func(_ context.Context, call idemtest.Call) error {
			if call == idemtest.CallAcquire {
				return errors.New("no route to host")
			}
			return nil
		},
	}
	_, err := store.Acquire(context.Background(), idem.Request{ID: "charges#ch-1"})
	fmt.Println(err)
	// Output: no route to host
}
