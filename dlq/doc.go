// Package dlq sends dead jobs to the dead-letter queue with the evidence beside them, and makes
// them whole again when they come back.
//
//	letters, err := dlq.NewSender(sqs.NewFromConfig(cfg), deadLetterURL, nil)
//	…
//	p, err := handler.NewProcessor(h, &handler.Options{DeadLetter: letters, Restore: dlq.Restore})
//
// Package sqsafe makes the [Sender] itself. Programs that read a dead-letter queue use [Open],
// and [Record] has what is known of the failure. The command "sqsafe dlq" shows, edits and
// replays dead letters.
//
// # The dead letter
//
// A dead letter is the message as it was received: the same body and attributes. One String
// attribute, [AttributeName], is added; its value is a [Record] in JSON, which can be read in
// the AWS console.
//
// SQS allows ten attributes and 1 MiB. If a message has ten already, the shortest one in JSON
// moves into the record ([Record].Displaced). If the record does not fit, its stack is
// truncated first, then its history, its message and its error types. If there is no room for
// the rest, the letter has no record: the ledger and the log have the failure, and sending the
// message is more important than its record.
//
// # Replays
//
// [Restore] moves displaced attributes back and removes the record from a replayed message, so
// that the user's function gets the message as its producer sent it.
//
// # Errors
//
// [ErrNoRecord] says that a message has no record, such as one that SQS moved, [ErrTooLarge]
// that a record does not fit. Whether a letter has arrived is said by its method Answer.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use; a [Record] is a value.
package dlq
