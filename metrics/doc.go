// Package metrics turns the report of a batch into metrics for alarms and dashboards.
//
//	hooks := handler.Hooks{OnBatch: metrics.Lines(os.Stdout, nil)}
//	p, err := handler.NewProcessor(h, &handler.Options{Hooks: hooks})
//
// Package sqsafe and package worker do this themselves. A program needs this package if it
// makes its handler.Processor itself, or sends the same numbers somewhere else.
//
// # Lines and values
//
// A Lambda function writes one line for each batch in CloudWatch's embedded metric format.
// CloudWatch makes metrics from it, without an API call by the function: [Lines] returns the
// hook. Where nothing reads that format, as in a container, the same [Values] are sent to
// CloudWatch in another way; package worker does that.
//
// # Names
//
// The constants are the names. Failures are also counted by reason, as in "Dead.validation", for
// up to [MaxReasons] reasons of a batch. The page docs/metrics.md has all names and units.
//
// # Errors
//
// A line that cannot be written is a warning in the log, and changes no outcome.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use.
package metrics
