package tracing_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/tracing"
)

// hangingProvider is a provider whose flush does what it is told.
type hangingProvider struct {
	trace.TracerProvider
	flush func(ctx context.Context) error
}

func (p hangingProvider) ForceFlush(ctx context.Context) error { return p.flush(ctx) }

func handle(t *testing.T, p *handler.Processor, bounded bool) (took time.Duration) {
	t.Helper()
	ctx := t.Context()
	if bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
	}
	begun := time.Now()
	response, err := p.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: "m1", Body: "x", EventSourceARN: "arn:aws:sqs:eu-west-1:123456789012:orders",
	}}})
	if err != nil || len(response.BatchItemFailures) != 0 {
		t.Errorf("response %v, %v, want no failure", response, err)
	}
	return time.Since(begun)
}

// TestACollectorThatHangsCostsAFlushTimeAtMost runs in a bubble of testing/synctest, so the
// times are exact.
func TestACollectorThatHangsCostsAFlushTimeAtMost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		flush func(ctx context.Context, ended <-chan struct{}) error
		// took is for the first batch, one after it, one a minute later, and one without a
		// deadline.
		took [4]time.Duration
	}{
		{"it answers", func(context.Context, <-chan struct{}) error { return nil }, [4]time.Duration{}},
		{"it fails", func(context.Context, <-chan struct{}) error { return errors.New("refused") }, [4]time.Duration{}},
		{"it panics", func(context.Context, <-chan struct{}) error { panic("x") }, [4]time.Duration{}},
		{"it hangs until its time is over", func(ctx context.Context, _ <-chan struct{}) error {
			<-ctx.Done()
			return ctx.Err()
		}, [4]time.Duration{500 * time.Millisecond, 0, 500 * time.Millisecond, 0}},
		{"it hangs for good", func(_ context.Context, ended <-chan struct{}) error {
			<-ended
			return nil
		}, [4]time.Duration{500 * time.Millisecond, 0, 0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan struct{})
				defer close(ended)
				flush := func(ctx context.Context) error { return tt.flush(ctx, ended) }
				quiet := slog.New(slog.DiscardHandler)
				tracer, err := tracing.New(hangingProvider{noop.NewTracerProvider(), flush}, &tracing.Options{Logger: quiet})
				if err != nil {
					t.Fatal(err)
				}
				p, err := handler.NewProcessor(handler.Func(func(context.Context, *handler.Message) error { return nil }),
					&handler.Options{Instrument: tracer.Instrument, Logger: quiet})
				if err != nil {
					t.Fatal(err)
				}
				var took [4]time.Duration
				took[0] = handle(t, p, true)
				took[1] = handle(t, p, true)
				<-time.After(time.Minute)
				took[2] = handle(t, p, true)
				took[3] = handle(t, p, false)
				if took != tt.took {
					t.Errorf("batches took %v, want %v", took, tt.took)
				}
			})
		})
	}
}

func TestAFlushHasAQuarterOfTheTimeThatIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var limit time.Duration
		tracer, err := tracing.New(hangingProvider{noop.NewTracerProvider(), func(ctx context.Context) error {
			end, _ := ctx.Deadline()
			limit = time.Until(end)
			return nil
		}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var o handler.Options
		tracer.Instrument(&o)
		o.Hooks.OnBatch(o.Begin(t.Context(), nil), handler.Report{TimeLeft: time.Second})
		if limit != 250*time.Millisecond {
			t.Errorf("a flush has %v of a second", limit)
		}
	})
}

func TestNewNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	if _, err := tracing.New(nil, nil); err == nil || !strings.Contains(err.Error(), "the provider is nil") {
		t.Errorf("error %v", err)
	}
	_, err := tracing.New(noop.NewTracerProvider(), &tracing.Options{FlushTime: -1})
	if err == nil || !strings.Contains(err.Error(), "FlushTime is -1ns") {
		t.Errorf("error %v", err)
	}
}

// TestTheUsersOwnHooksAreKept instruments options that have all that is wrapped.
func TestTheUsersOwnHooksAreKept(t *testing.T) {
	t.Parallel()
	var called []string
	type own struct{}
	tracer, err := tracing.New(noop.NewTracerProvider(), nil)
	if err != nil {
		t.Fatal(err)
	}
	o := &handler.Options{
		Instrument: tracer.Instrument, Logger: slog.New(slog.DiscardHandler),
		Begin: func(ctx context.Context, records []events.SQSMessage) context.Context {
			called = append(called, "begin")
			return context.WithValue(ctx, own{}, len(records))
		},
		Middleware: []handler.Middleware{func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				called = append(called, "middleware")
				return next(ctx, m)
			}
		}},
		Hooks: handler.Hooks{OnBatch: func(ctx context.Context, _ handler.Report) {
			if ctx.Value(own{}) == 1 {
				called = append(called, "batch")
			}
		}},
	}
	p, err := handler.NewProcessor(handler.Func(func(context.Context, *handler.Message) error { return nil }), o)
	if err != nil {
		t.Fatal(err)
	}
	handle(t, p, false)
	if got := strings.Join(called, " "); got != "begin middleware batch" {
		t.Errorf("called %s", got)
	}
}

// TestARunThatIsLeftBehindHasASpan cancels a batch whose function goes on.
func TestARunThatIsLeftBehindHasASpan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		defer close(ended)
		var to receiver
		tracer, err := tracing.New(newProvider(t, &to), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := handler.NewProcessor(handler.Func(func(context.Context, *handler.Message) error {
			<-ended
			return nil
		}), &handler.Options{Instrument: tracer.Instrument, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		func() {
			defer func() { _ = recover() }() // the process would end
			_, _ = p.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{{
				MessageId: "m1", Body: "x", EventSourceARN: "arn:aws:sqs:eu-west-1:123456789012:orders",
			}}})
		}()
		runs, batches := to.named("run orders"), to.named("process orders")
		if len(runs) != 1 || attributes(runs[0].GetAttributes())["error.type"] != handler.ReasonAbandoned ||
			len(batches) != 1 || batches[0].GetStatus().GetMessage() != "the process ends" {
			t.Errorf("runs %v, batches %v", runs, batches)
		}
	})
}
