package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/sqsafe/sqsafe/handler"
)

// scope is the name of the instrumentation.
const scope = "github.com/sqsafe/sqsafe/tracing"

// Options are the settings of a [Tracer]. The zero value works.
type Options struct {
	// FlushTime is how long the end of a batch may wait for the export of spans, in an
	// invocation of Lambda, which freezes the process afterwards; at most a quarter of the
	// time that is left. 0 means 500 ms; it must not be negative. After a flush that did not
	// end in time there is none for a minute: spans are then exported in the background, or
	// with a later flush.
	FlushTime time.Duration
	// Logger gets a warning for each flush that failed; nil means [slog.Default] at the time
	// of New.
	Logger *slog.Logger
}

const (
	defaultFlushTime = 500 * time.Millisecond
	// flushPause is how long no flush is tried after one that took too long.
	flushPause = time.Minute
)

// Tracer makes spans of batches and jobs. It is safe for concurrent use.
type Tracer struct {
	trace.Tracer

	provider  trace.TracerProvider
	flushTime time.Duration
	logger    *slog.Logger
	flushing  atomic.Bool
	// paused is until when there is no flush, in nanoseconds of Unix time.
	paused atomic.Int64
}

// New returns a Tracer; nil options mean the defaults. A provider with a method ForceFlush,
// as that of the SDK of OpenTelemetry, is flushed at the end of each invocation of Lambda.
// The error says that the provider is missing, or that FlushTime is negative.
func New(provider trace.TracerProvider, o *Options) (*Tracer, error) {
	if o == nil {
		o = &Options{}
	}
	if provider == nil {
		return nil, errors.New("tracing.New: the provider is nil; give it one, such as that of sdktrace.NewTracerProvider")
	}
	if o.FlushTime < 0 {
		return nil, fmt.Errorf("tracing.New: FlushTime is %v, want more than 0, or 0 for %v", o.FlushTime, defaultFlushTime)
	}
	t := &Tracer{
		Tracer: provider.Tracer(scope), provider: provider, flushTime: o.FlushTime, logger: o.Logger,
	}
	if t.flushTime == 0 {
		t.flushTime = defaultFlushTime
	}
	if t.logger == nil {
		t.logger = slog.Default()
	}
	return t, nil
}

// Instrument adds the spans to the options of a processor. It is for
// handler.Options.Instrument.
func (t *Tracer) Instrument(o *handler.Options) {
	begin, onBatch := o.Begin, o.Hooks.OnBatch
	o.Begin = t.begin
	if begin != nil {
		o.Begin = t.beginAfter(begin)
	}
	o.Hooks.OnBatch = func(ctx context.Context, r handler.Report) {
		if onBatch != nil {
			onBatch(ctx, r)
		}
		t.end(ctx, r)
	}
	o.Middleware = append([]handler.Middleware{t.run}, o.Middleware...)
	if o.Ledger != nil {
		o.Ledger = ledger{o.Ledger, t}
	}
	if o.DeadLetter != nil {
		o.DeadLetter = deadLetter{o.DeadLetter, t}
	}
}

// flusher is a provider that can export at once.
type flusher interface {
	ForceFlush(ctx context.Context) error
}

// Flush exports the spans that have ended, within the time limit; 0 or less does nothing.
// With Instrument it is called at the end of each invocation that has a deadline. It
// returns when the limit has passed, even if the export hangs, and does nothing while an
// earlier flush hangs, or within a minute after one that took too long. An error is logged.
func (t *Tracer) Flush(limit time.Duration) {
	f, ok := t.provider.(flusher)
	if !ok || limit <= 0 || time.Now().UnixNano() < t.paused.Load() || !t.flushing.CompareAndSwap(false, true) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	done := make(chan error, 1)
	go func() {
		defer cancel()
		defer t.flushing.Store(false)
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v", p)
			}
		}()
		done <- f.ForceFlush(ctx)
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		t.paused.Store(time.Now().Add(flushPause).UnixNano())
	}
	if err != nil {
		t.logger.Warn("spans not exported", slog.String("error", err.Error()))
	}
}
