// Command sqsafe runs a stack of Lambda functions and SQS queues on one
// machine, sends jobs, and inspects queues and the ledger.
package main

import (
	"os"

	"github.com/sqsafe/sqsafe/internal/cli"
)

func main() {
	os.Exit(cli.Run(cli.UntilSignal(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
