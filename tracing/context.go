package tracing

import (
	"context"

	"github.com/aws/aws-lambda-go/events"
	"go.opentelemetry.io/otel/trace"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/traceid"
)

// Inject returns the trace context of ctx for another message: traceparent and tracestate
// (W3C) for message attributes, and AWSTraceHeader for the system attribute of that name. It
// is for producer.Options.Trace. It returns nil without a span in ctx.
func Inject(ctx context.Context) map[string]string {
	of := trace.SpanContextFromContext(ctx)
	if !of.IsValid() {
		return nil
	}
	c := traceid.Context{TraceID: of.TraceID(), SpanID: of.SpanID(), Sampled: of.IsSampled()}
	carried := map[string]string{traceid.Traceparent: c.W3C(), traceid.XRayHeader: c.XRay()}
	if state := of.TraceState().String(); state != "" {
		carried[traceid.Tracestate] = state
	}
	return carried
}

// TraceID returns the trace id of ctx as 32 hexadecimal digits, and an empty text without a
// trace. It is for logs.Options.TraceID: in a job it is the trace of the run.
func TraceID(ctx context.Context) string {
	if of := trace.SpanContextFromContext(ctx); of.HasTraceID() {
		return of.TraceID().String()
	}
	return ""
}

// remote returns the context of a span elsewhere.
func remote(c traceid.Context) trace.SpanContext {
	config := trace.SpanContextConfig{TraceID: c.TraceID, SpanID: c.SpanID, Remote: true}
	if c.Sampled {
		config.TraceFlags = trace.FlagsSampled
	}
	return trace.NewSpanContext(config)
}

// producerOf returns the span that sent the message. W3C comes first: the producer itself
// writes traceparent, while a service between producer and queue may write the header of
// X-Ray.
func producerOf(record *events.SQSMessage) (trace.SpanContext, bool) {
	text := func(name string) string {
		if a, ok := record.MessageAttributes[name]; ok && a.StringValue != nil {
			return *a.StringValue
		}
		return ""
	}
	if c, ok := traceid.ParseW3C(text(traceid.Traceparent)); ok {
		of := remote(c)
		if state, err := trace.ParseTraceState(text(traceid.Tracestate)); err == nil {
			of = of.WithTraceState(state)
		}
		return of, true
	}
	if c, ok := traceid.ParseXRay(record.Attributes[traceid.XRayHeader]); ok && c.SpanID != [8]byte{} {
		return remote(c), true
	}
	return trace.SpanContext{}, false
}

// linksOf returns the links of a job: to its producer, and to the run in which it died
// before.
func linksOf(m *handler.Message) []trace.Link {
	var links []trace.Link
	if of, ok := producerOf(&m.SQSMessage); ok {
		links = append(links, link(of, linkProducer))
	}
	if m.Replay != nil {
		links = appendTraceparent(links, m.Replay.Trace, linkDeath)
	}
	return links
}

// appendTraceparent adds a link, if the text has a span.
func appendTraceparent(links []trace.Link, text, to string) []trace.Link {
	c, ok := traceid.ParseW3C(text)
	if !ok {
		return links
	}
	return append(links, link(remote(c), to))
}

// lambdaTrace is the name under which aws-lambda-go has the trace header of an invocation
// in its context.
const lambdaTrace = "x-amzn-trace-id"

// withInvocation returns ctx with the span of X-Ray in which Lambda invokes the function,
// unless it has a span already.
func withInvocation(ctx context.Context) context.Context {
	if trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	header, _ := ctx.Value(lambdaTrace).(string)
	if c, ok := traceid.ParseXRay(header); ok && c.SpanID != [8]byte{} {
		return trace.ContextWithRemoteSpanContext(ctx, remote(c))
	}
	return ctx
}
