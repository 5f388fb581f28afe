package idem_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// A thumbnail that is made twice does no harm, so it does not wait for the store.
func ExampleOptions_failOpen() {
	down := &idemtest.Faulty{Store: idem.NewMemory(), Before: func(context.Context, idemtest.Call) error {
		return errors.New("no route to host")
	}}
	thumbnail := func(context.Context, *handler.Message) error { return nil }

	for _, open := range []bool{false, true} {
		deliver(processor(down, &idem.Options{FailOpen: open}, thumbnail), message("m1", ""))
	}
	// Output:
	// 1 retry (idempotency_store)
	// 1 done (unprotected)
}

// A bank that takes no key is not asked twice without a person who has looked.
func ExampleOptions_deadLetterUnknown() {
	transfer := func(context.Context, *handler.Message) error { panic("out of memory") }
	store, o := idem.NewMemory(), &idem.Options{DeadLetterUnknown: true}

	func() {
		defer func() { _ = recover() }() // in Lambda the process ends
		deliver(processor(store, o, transfer), message("m1", ""))
	}()
	deliver(processor(store, o, transfer), message("m1", ""))
	// Output:
	// 1 crash (panic)
	// 1 dead (unknown_outcome)
}

// Two members make the key, since an order's number is only its tenant's own.
func ExampleKeyFunc() {
	tenant, order := idem.JSONField("tenant"), idem.JSONField("order.number")
	key := idem.KeyFunc(func(ctx context.Context, m *handler.Message) (string, error) {
		t, tenantErr := tenant(ctx, m)
		n, orderErr := order(ctx, m)
		return t + "/" + n, errors.Join(tenantErr, orderErr)
	})
	fmt.Println(key(context.Background(), message("m1", `{"tenant":"acme","order":{"number":7}}`)))

	_, err := key(context.Background(), message("m2", `{"tenant":"acme"}`))
	fmt.Println(fault.Rules().Classify(context.Background(), err).Reason)
	// Output:
	// acme/7 <nil>
	// missing_key
}
