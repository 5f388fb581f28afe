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

// batches is how many batches a store is for. It keeps every job, and the garbage collector
// visits all of them.
const batches = 20

func main() { lambda.Start(&function{}) }

// function renews its store, so that it measures jobs that the store does not know.
type function struct {
	processor *handler.Processor
	left      int
}

// Invoke implements [lambda.Handler].
func (f *function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	if f.left == 0 {
		f.processor, f.left = processor(), batches
	}
	f.left--
	return f.processor.Invoke(ctx, payload)
}

func processor() *handler.Processor {
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
	return p
}

func pass(next handler.Func) handler.Func {
	return func(ctx context.Context, m *handler.Message) error { return next(ctx, m) }
}
