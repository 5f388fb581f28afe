// Command ours does what bare does, with a Processor: default options, three
// middlewares that only call the next one, and the log that sqsafe.Start
// writes.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/bench/job"
)

func main() {
	p, err := handler.NewProcessor(handler.JSON(job.Do), &handler.Options{
		Middleware: []handler.Middleware{pass, pass, pass},
		Logger:     slog.New(slog.NewJSONHandler(os.Stderr, nil)),
	})
	if err != nil {
		panic(err)
	}
	lambda.Start(p)
}

func pass(next handler.Func) handler.Func {
	return func(ctx context.Context, m *handler.Message) error { return next(ctx, m) }
}
