// Command sqsafe runs a stack of Lambda functions and SQS queues on one machine.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/sqsafe/sqsafe/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
