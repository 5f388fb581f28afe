package jobs_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/jobs"
)

func Example() {
	ctx := context.Background()
	client := newTable() // in a program, a *dynamodb.Client

	charges, err := jobs.New(client, "ledger", "arn:aws:sqs:eu-west-1:123456789012:charges")
	if err != nil {
		fmt.Println(err)
		return
	}
	status, err := charges.Status(ctx, "ch-1")
	fmt.Println(status.State, err)

	// The function runs the job meanwhile.
	now := time.Now()
	store := dynamo.New(client, "ledger", nil)
	claimed, err := store.Acquire(ctx, idem.Request{
		ID: "charges#ch-1", Owner: "o1", Now: now, Lease: now.Add(time.Minute), Expires: now.Add(time.Hour),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := store.Settle(ctx, claimed.Claim, idem.Settlement{
		Kind: idem.SettleComplete, Expires: now.Add(time.Hour),
	}); err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	status, err = charges.Wait(ctx, "ch-1", nil)
	fmt.Println(status.State, err)
	// Output:
	// unknown <nil>
	// done <nil>
}
