// Package tracing makes OpenTelemetry spans of batches and jobs. Only programs that import it
// link OpenTelemetry.
//
//	tracer, err := tracing.New(provider, nil)
//	…
//	sqsafe.Start(charge, sqsafe.KeyField("id"), func(o *sqsafe.Options) { o.Instrument = tracer.Instrument })
//
// The provider is the program's own, with the exporter of its choice: OTLP to the ADOT
// collector, or straight to X-Ray's OTLP endpoint. It has to export in the background, as
// with sdktrace.WithBatcher. [Tracer.Flush] exports before Lambda freezes the process.
//
// # Spans and links
//
// A job's spans are linked to the span of its producer, which its message carries as the
// attribute traceparent (W3C) or as the trace header of X-Ray. A replay is linked to the run
// in which the job died. [Inject] adds the trace to what a job sends: it is made for
// producer.Options.Trace.
//
// Names and attributes follow the semantic conventions of OpenTelemetry for messaging,
// version [SemanticConventions]; what these do not name begins with "sqsafe.".
//
// # Errors
//
// [New] says what is wrong with its arguments. An export that fails changes no outcome.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use.
package tracing
