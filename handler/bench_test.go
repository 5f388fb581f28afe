package handler_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
)

func BenchmarkHandle(b *testing.B) {
	pass := func(next handler.Func) handler.Func {
		return func(ctx context.Context, m *handler.Message) error { return next(ctx, m) }
	}
	for _, messages := range []int{1, 10, 1000} {
		for _, depth := range []int{0, 5} {
			b.Run(fmt.Sprintf("messages=%d/middleware=%d", messages, depth), func(b *testing.B) {
				o := &handler.Options{Logger: slog.New(slog.DiscardHandler)}
				for range depth {
					o.Middleware = append(o.Middleware, pass)
				}
				p := newProcessor(handler.JSON(func(context.Context, order) error { return nil }), o)
				var batch events.SQSEvent
				for i := range messages {
					batch.Records = append(batch.Records, record("m"+strconv.Itoa(i), `{"id":"o-1","count":2}`))
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.Handle(b.Context(), batch); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkLedger is a batch under a ledger that does nothing, with a deadline as in Lambda.
func BenchmarkLedger(b *testing.B) {
	for _, messages := range []int{1, 10, 1000} {
		b.Run(fmt.Sprintf("messages=%d", messages), func(b *testing.B) {
			p := newProcessor(handler.Func(func(context.Context, *handler.Message) error { return nil }),
				&handler.Options{Logger: slog.New(slog.DiscardHandler), Ledger: noLedger{}})
			var batch events.SQSEvent
			for i := range messages {
				batch.Records = append(batch.Records, record("m"+strconv.Itoa(i), "x"))
			}
			ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
			defer cancel()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Handle(ctx, batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// noLedger lets every job run.
type noLedger struct{}

func (noLedger) Ahead() bool { return true }

func (noLedger) Identify(_ context.Context, m *handler.Message) (handler.Identity, error) {
	return handler.Identity{Key: m.MessageId, ID: m.MessageId}, nil
}

func (l noLedger) Claim(context.Context, *handler.Message, handler.Identity, time.Time) handler.ClaimAnswer {
	return handler.ClaimAnswer{Claim: l}
}

func (noLedger) Lease() time.Time                                           { return time.Time{} }
func (noLedger) Lost() <-chan struct{}                                      { return nil }
func (noLedger) CountCrash(context.Context, bool) error                     { return nil }
func (noLedger) Run(ctx context.Context) (context.Context, func())          { return ctx, func() {} }
func (noLedger) Settle(_ context.Context, e handler.Ending) *handler.Result { return e.Result }
func (noLedger) Confirm(context.Context, string) error                      { return nil }

// BenchmarkSuspects is a large batch in which every message is to run alone.
func BenchmarkSuspects(b *testing.B) {
	for _, messages := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("messages=%d", messages), func(b *testing.B) {
			batch := suspects(messages)
			for b.Loop() {
				p := newProcessor(handler.Func(func(context.Context, *handler.Message) error { return nil }),
					&handler.Options{Logger: slog.New(slog.DiscardHandler), Ledger: newLedger(newTrace()), MaxReceives: 30})
				if _, err := p.Handle(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func suspects(n int) (batch events.SQSEvent) {
	for i := range n {
		batch.Records = append(batch.Records, received(2, record("m"+strconv.Itoa(i), "suspect")))
	}
	return batch
}
