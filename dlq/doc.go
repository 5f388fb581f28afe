// Package dlq sends dead jobs to the dead-letter queue with the evidence beside
// them, and makes them whole again when they come back.
//
// A dead letter is the message as it was received: its body byte for byte and
// its attributes in their places. One String attribute, [AttributeName], is
// added; its value is a [Record] in JSON, which can be read in the AWS console.
//
// SQS allows ten attributes and 1 MiB. Where a message has ten already, the one
// that is shortest in JSON moves into the record ([Record.Displaced]). Where
// the record does not fit, its stack is cut first, then its history, its
// message and its error types. A message with no room for the rest goes without
// a record: the ledger and the log have it, and a message is never held back
// for its evidence.
//
// [Sender] is the way out, [Restore] the way in: it puts displaced attributes
// back and takes the record away, so that the user's function sees a replayed
// message as its producer sent it.
package dlq
