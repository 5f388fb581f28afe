// Package dlq sends dead jobs to the dead-letter queue with the evidence beside
// them, and makes them whole again when they come back.
//
// A dead letter is the message as it was received: the same body and attributes. One
// String attribute, [AttributeName], is added; its value is a [Record] in JSON, which can
// be read in the AWS console.
//
// SQS allows ten attributes and 1 MiB. If a message has ten already, the shortest one in
// JSON moves into the record ([Record.Displaced]). If the record does not fit, its stack
// is truncated first, then its history, its message and its error types. If there is no
// room for the rest, the letter has no record: the ledger and the log have the failure,
// and sending the message is more important than its record.
//
// [Sender] sends dead letters. [Restore] moves displaced attributes back and removes the
// record from a replayed message, so that the user's function gets the message as its
// producer sent it.
package dlq
