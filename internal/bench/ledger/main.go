// Command ledger does what ours does, with idempotency over a store in memory.
// Its cost includes the ledger without the network round trips.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/bench/job"
)

func main() {
	logger := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	ledger, err := idem.New(idem.NewMemory(), &idem.Options{Logger: logger})
	if err != nil {
		panic(err)
	}
	p, err := handler.NewProcessor(handler.JSON(job.Do), &handler.Options{
		Middleware: []handler.Middleware{pass, pass, pass},
		Ledger:     ledger,
		Logger:     logger,
	})
	if err != nil {
		panic(err)
	}
	lambda.Start(p)
}

func pass(next handler.Func) handler.Func {
	return func(ctx context.Context, m *handler.Message) error { return next(ctx, m) }
}
