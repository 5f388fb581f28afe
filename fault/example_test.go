package fault_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

func Example() {
	err := fmt.Errorf("charge ch-1: %w", fault.Permanent(errors.New("card is stolen"), fault.Reason("card_stolen")))

	d := fault.Classify(context.Background(), err)
	fmt.Println(err)
	fmt.Println(d.Class, d.Reason, d.Rule)
	// Output:
	// charge ch-1: card is stolen
	// permanent card_stolen tag.permanent
}

func ExampleRetryAfter() {
	err := fault.RetryAfter(90*time.Second, errors.New("ledger is closing its day"), fault.Reason("closing"))

	d := fault.Classify(context.Background(), err)
	fmt.Println(d.Class, d.Reason, d.RetryAfter)
	// Output: retryable closing 1m30s
}

func ExampleCheckResponse() {
	resp := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"30"}}}

	err := fault.CheckResponse(resp)
	d := fault.Classify(context.Background(), err)
	fmt.Println(err)
	fmt.Println(d.Class, d.Rule, d.RetryAfter)
	// Output:
	// HTTP 429 Too Many Requests
	// retryable http.429 30s
}

func ExampleRules() {
	errReplicaLag := errors.New("replica is behind")
	table := append(fault.Table{{
		ID: "shop.replica_lag", Reason: "replica_lag", Class: fault.ClassRetryable,
		Match: func(_ context.Context, err error) bool { return errors.Is(err, errReplicaLag) },
	}}, fault.Rules()...)

	d := table.Classify(context.Background(), fmt.Errorf("read order: %w", errReplicaLag))
	fmt.Println(d.Class, d.Reason, d.Rule)
	// Output: retryable replica_lag shop.replica_lag
}
