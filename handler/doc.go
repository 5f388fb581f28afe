// Package handler processes the batches that Lambda receives from an SQS queue. The user
// writes a function for one message.
//
// A [Processor] determines an [Outcome] for every message of a batch: it decodes and
// validates the message, claims its job in the [Ledger], and calls middleware and the
// user's function. It classifies the error of the function, which becomes a [Result]:
// retry after a delay, dead, or one of the other outcomes. The outcome is written to the
// ledger while other messages run. Dead jobs are sent to the dead-letter queue in batch
// calls. At the end the processor hides each failed message for the time of its backoff,
// and returns the list of failed messages to Lambda.
//
// A batch has one event loop, which owns its state. Workers, goroutines of the batch,
// decode, claim, run and settle, and post their results to the loop. Package
// internal/runqueue decides which delivery runs next.
//
// Ports are the interfaces for what a processor needs: [Ledger], [DeadLetter], [Queue],
// [Classifier] and [Backoff]. Each is optional.
package handler
