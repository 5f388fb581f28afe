package handler_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
)

// TestABatchGoesOnWhateverBeginDoes has a Begin that answers, answers nil, panics, or hangs.
func TestABatchGoesOnWhateverBeginDoes(t *testing.T) {
	t.Parallel()
	type key struct{}
	for name, tt := range map[string]struct {
		begin func(ctx context.Context) context.Context
		value any
		took  time.Duration
	}{
		"answers": {func(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, 1) }, 1, 0},
		"nil":     {func(context.Context) context.Context { return nil }, nil, 0},
		"panics":  {func(context.Context) context.Context { panic("x") }, nil, 0},
		"hangs":   {func(ctx context.Context) context.Context { <-ctx.Done(); return ctx }, nil, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				var seen, atEnd any = "not run", "no end"
				p, err := handler.NewProcessor(handler.Func(func(ctx context.Context, _ *handler.Message) error {
					seen = ctx.Value(key{})
					return nil
				}), &handler.Options{
					Logger: slog.New(slog.DiscardHandler),
					Begin: func(ctx context.Context, records []events.SQSMessage) context.Context {
						if len(records) != 1 {
							t.Errorf("%d records", len(records))
						}
						return tt.begin(ctx)
					},
					Instrument: func(o *handler.Options) {
						o.Hooks.OnBatch = func(ctx context.Context, _ handler.Report) { atEnd = ctx.Value(key{}) }
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				r, err := p.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m1", Body: "x"}}})
				if err != nil || len(r.BatchItemFailures) != 0 || seen != tt.value || atEnd != tt.value {
					t.Errorf("run %v, end %v, response %v, %v", seen, atEnd, r, err)
				}
				if took := time.Since(begun); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
			})
		})
	}
}
