// Command demo shows what becomes of good and bad jobs. It is what `make run` runs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(demo.Run(ctx, cli.Streams{Out: os.Stdout, Err: os.Stderr}))
}
