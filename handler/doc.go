// Package handler turns a function for one message into a handler for the
// batches that Lambda fetches from an SQS queue.
//
// A [Processor] gives every message of a batch an [Outcome] of its own. The
// message is decoded and validated, its job is claimed in the [Ledger], and it is
// passed through the middleware to the user's function. The error that comes back
// is classified on the spot and becomes a [Result]: retry after a delay, dead with
// the evidence, or one of the others. The outcome is written to the ledger, and
// dead jobs go to the dead-letter queue, while other jobs run. At the end of the
// batch the processor hides the failed messages for as long as their backoff says,
// and answers Lambda with the messages that are to come back.
//
// Most programs need only [JSON], [NewProcessor] and [Options], and of these only
// what sqsafe.Start does not do. [Ledger], [Claim], [DeadLetter] and [Queue], with
// the types that they use, are for those who write a part of their own.
package handler
