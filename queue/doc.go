// Package queue changes the visibility timeout of messages of a source queue and deletes
// messages, in batch calls with an answer for each message.
//
//	source, err := queue.New(sqs.NewFromConfig(cfg), nil)
//	…
//	p, err := handler.NewProcessor(h, &handler.Options{Queue: source})
//
// Package sqsafe makes the [Client] itself, and package worker has one of its own. A program
// needs this package if it makes its handler.Processor itself.
//
// # Calls and rights
//
// The queue's URL is derived from the message's ARN ([URL]), so one [Client] serves every queue
// that its client may call. The role needs sqs:ChangeMessageVisibility and sqs:DeleteMessage
// on the queue.
//
// # Errors
//
// Each change and each deletion has its own answer. A failed call is not retried here, since
// the SDK does that already. A failed entry of a successful call is an [*EntryError]; it is
// retried for a short time if SQS is at fault. [ErrDenied] says that the role has no right, and
// how to give it.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use.
package queue
