// Command charge is a Lambda function that charges customers, once for each id.
package main

import (
	"fmt"
	"os"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/functions/internal/charge"
)

func main() {
	provider, err := charge.NewProvider(os.Getenv("PAYMENT_URL"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "charge:", err)
		os.Exit(1)
	}
	sqsafe.Start(provider.Charge, sqsafe.KeyField("id"))
}
