// Package logs adds to each line of a job's log what tells jobs apart: the key, the message
// id, the number of the run, the epoch, the queue and the trace id.
//
//	logger, err := logs.New(sqsafe.NewLogger(os.Stderr).Handler(), nil)
//	…
//	slog.SetDefault(logger)
//
// From then on the calls of slog with a context, such as [slog.InfoContext], have these fields
// in all code that runs a job: functions, workers, middleware, steps, and tests. The names are
// those of the lines that sqsafe writes itself. A [Handler] wraps any other [slog.Handler].
//
// # Options
//
// What [Options] do not set comes from the environment. They can write DEBUG lines for a few
// jobs only: one in n, or those at their last attempt. This package logs neither payloads nor
// attributes of messages.
//
// # Errors
//
// [New] and [NewHandler] name the environment variables that are wrong.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use, if the wrapped handler is.
package logs
