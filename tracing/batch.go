package tracing

import (
	"context"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/sqsafe/sqsafe/handler"
)

// batch is what is known of a batch until its end.
type batch struct {
	span trace.Span

	mu sync.Mutex
	// running are the runs that have not ended.
	running map[*run]bool
}

// run is a run that has not ended.
type run struct{ span trace.Span }

type batchKey struct{}

func batchOf(ctx context.Context) *batch {
	b, _ := ctx.Value(batchKey{}).(*batch)
	return b
}

// mostLinks is how many links a span keeps by default (OpenTelemetry, span limits).
const mostLinks = 128

// begin starts the span of a batch, with links to the producers of its messages.
func (t *Tracer) begin(ctx context.Context, records []events.SQSMessage) context.Context {
	queue := ""
	if len(records) > 0 {
		m := handler.Message{SQSMessage: records[0]}
		queue = m.QueueName()
	}
	var links []trace.Link
	for i := range records {
		if of, ok := producerOf(&records[i]); ok && len(links) < mostLinks {
			links = append(links, link(of, linkProducer))
		}
	}
	attributes := append(ofQueue(queue, operationBatch, operationBatch), batchSize.Int(len(records)))
	ctx, span := t.Start(withInvocation(ctx), operationBatch+" "+queue, //nolint:spancheck // end ends it
		trace.WithSpanKind(kindOf(operationBatch)),
		trace.WithLinks(links...), trace.WithAttributes(attributes...))
	return context.WithValue(ctx, batchKey{}, &batch{span: span, running: map[*run]bool{}}) //nolint:spancheck // as above
}

// beginAfter calls the Begin of the user first.
func (t *Tracer) beginAfter(
	begin func(context.Context, []events.SQSMessage) context.Context,
) func(context.Context, []events.SQSMessage) context.Context {
	return func(ctx context.Context, records []events.SQSMessage) context.Context {
		if of := begin(ctx, records); of != nil {
			ctx = of
		}
		return t.begin(ctx, records)
	}
}

func link(of trace.SpanContext, to string) trace.Link {
	return trace.Link{SpanContext: of, Attributes: []attribute.KeyValue{LinkAttribute.String(to)}}
}

// end ends the span of a batch and exports, if the process may be frozen afterwards.
func (t *Tracer) end(ctx context.Context, r handler.Report) {
	b := batchOf(ctx)
	if b == nil {
		return
	}
	b.abandon()
	for outcome, n := range outcomes(r) {
		b.span.SetAttributes(attribute.Int("sqsafe.batch."+outcome, n))
	}
	if r.Crashed {
		b.span.SetStatus(codes.Error, "the process ends")
	}
	b.span.End()
	t.Flush(min(t.flushTime, r.TimeLeft/4))
}

// outcomes counts the messages of a batch by outcome.
func outcomes(r handler.Report) map[string]int {
	counts := map[string]int{}
	for _, c := range r.Counts {
		counts[c.Outcome.String()] += c.N
	}
	return counts
}

// started notes the span of a run until ended is called.
func (b *batch) started(span trace.Span) (ended func()) {
	r := &run{span}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running != nil {
		b.running[r] = true
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.running, r)
	}
}

// abandon ends the spans of runs that were left behind.
func (b *batch) abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for r := range b.running {
		r.span.SetAttributes(errorType.String(handler.ReasonAbandoned))
		r.span.SetStatus(codes.Error, "the function did not return")
		r.span.End()
	}
	b.running = nil
}
