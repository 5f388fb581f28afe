// Command charge-worker runs in a container and does the same as the Lambda
// function charge.
package main

import (
	"fmt"
	"os"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/functions/internal/charge"
	"github.com/sqsafe/sqsafe/worker"
)

func main() {
	provider, err := charge.NewProvider(os.Getenv("PAYMENT_URL"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "charge-worker:", err)
		os.Exit(1)
	}
	worker.Start(provider.Charge, sqsafe.KeyField("id"))
}
