package idem_test

import (
	"context"
	"fmt"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// A payload that is delivered three times is charged once.
func ExampleMiddleware() {
	charge := func(ctx context.Context, _ *handler.Message) error {
		fmt.Println("charging", idem.Key(ctx))
		return nil
	}
	once := idem.Middleware(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")})(charge)

	for _, id := range []string{"m1", "m1", "m2"} {
		m := message(id, `{"id":"ch-1","amount":1250}`)
		fmt.Println(m.Resolve(context.Background(), once(context.Background(), m)).Outcome)
	}
	// Output:
	// charging ch-1
	// done
	// duplicate
	// duplicate
}

func ExampleJSONField() {
	key := idem.JSONField("order.id")
	fmt.Println(key(context.Background(), message("m1", `{"order":{"id":"o-7"}}`)))
	fmt.Println(key(context.Background(), message("m2", `{"order":{}}`)))
	// Output:
	// o-7 <nil>
	//  idempotency key "order.id": the payload does not have it
}
