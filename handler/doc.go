// Package handler processes the batches that Lambda receives from an SQS queue. The user
// writes a function for one message.
//
//	p, err := handler.NewProcessor(handler.JSON(charge), &handler.Options{Ledger: ledger, Queue: source})
//	…
//	lambda.Start(p)
//
// Package sqsafe makes a [Processor] with a ledger, a dead-letter queue and the source queue
// from the environment. A program needs this package if it puts these together itself, and
// for what it says about jobs: [Outcome], [Options], [Middleware], [Hooks] and [Message].
//
// # One message
//
// A [Processor] determines an [Outcome] for every message of a batch. It decodes and validates
// the message, claims its job in the [Ledger], and calls middleware and the user's function.
// It classifies the error of the function, which becomes a [Result]: retry after a delay, dead,
// or one of the other outcomes. The outcome is written to the ledger while other messages run.
// Dead jobs are sent to the dead-letter queue in batch calls. At the end the processor hides
// each failed message for the time of its backoff, and returns the list of failed messages to
// Lambda. It returns before the deadline, whatever hangs.
//
// # Options
//
// The zero [Options] work. [Ledger], [DeadLetter], [Queue], [Classifier] and [Backoff] are
// interfaces for what a processor needs; each is optional. Package idem has the ledger, dlq the
// dead letters, queue the source queue, fault the classifier and backoff the delays.
//
// # Errors
//
// The error of a job is never an error of [Processor.Handle]. That returns [ErrNotSQS] for what
// is no batch of SQS, and panics after a panic of user code, or after user code ignored its
// cancellation ([ErrAbandoned]), once the other messages are settled: the process ends.
//
// # Concurrency
//
// A [Processor] is safe for concurrent use, and what it is given must be: functions,
// middleware, hooks and interfaces are called from several goroutines. The messages of one
// FIFO group run one after another.
package handler
