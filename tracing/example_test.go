package tracing_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/tracing"
)

func Example() {
	// In a program: sdktrace.WithBatcher with an OTLP exporter.
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	tracer, err := tracing.New(provider, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ship := func(context.Context, *handler.Message) error { return nil }
	p, err := handler.NewProcessor(handler.Func(ship), &handler.Options{
		Instrument: tracer.Instrument, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = p.Handle(context.Background(), events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: "m1", Body: "o-7", EventSourceARN: "arn:aws:sqs:eu-west-1:123456789012:orders",
	}}})
	for _, span := range exporter.GetSpans() {
		fmt.Println(span.Name, span.SpanKind)
	}
	fmt.Println(err)
	// Output:
	// run orders consumer
	// process orders consumer
	// <nil>
}
