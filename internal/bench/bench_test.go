package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/bench/job"
)

// BenchmarkBatch measures what the compared programs do after the event was
// decoded.
func BenchmarkBatch(b *testing.B) {
	pass := func(next handler.Func) handler.Func {
		return func(ctx context.Context, m *handler.Message) error { return next(ctx, m) }
	}
	p, err := handler.NewProcessor(handler.JSON(job.Do), &handler.Options{
		Middleware: []handler.Middleware{pass, pass, pass},
		Logger:     slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range shapes() {
		event := decode(b, s.event().renewed(1))
		b.Run(s.name+"/bare", func(b *testing.B) {
			perMessage(b, event, func(ctx context.Context) error { return bare(ctx, event) })
		})
		b.Run(s.name+"/ours", func(b *testing.B) {
			perMessage(b, event, func(ctx context.Context) error {
				_, err := p.Handle(ctx, event)
				return err
			})
		})
	}
}

// bare decodes the messages and does the work, and ignores errors.
func bare(ctx context.Context, event events.SQSEvent) error {
	for i := range event.Records {
		var order job.Order
		if err := json.Unmarshal([]byte(event.Records[i].Body), &order); err != nil {
			return err
		}
		_ = job.Do(ctx, order)
	}
	return nil
}

// perMessage reports the processor time per message in addition to the usual
// results, since the garbage collector and other goroutines use other
// processors.
func perMessage(b *testing.B, event events.SQSEvent, f func(context.Context) error) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	defer cancel()
	if runtime.GOOS != "linux" {
		b.Skip("the processor time is only read on Linux")
	}
	before, err := cpuTime(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	messages := 0
	for b.Loop() {
		if err := f(ctx); err != nil {
			b.Fatal(err)
		}
		messages += len(event.Records)
	}
	after, err := cpuTime(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(after-before)/float64(messages), "cpu-ns/message")
}
