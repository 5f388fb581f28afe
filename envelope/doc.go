// Package envelope removes what SNS, EventBridge and encoders wrap around a payload, before
// the payload is decoded.
//
//	sqsafe.Start(charge, func(o *sqsafe.Options) { o.Envelope = envelope.EventBridge })
//
// It is for queues that are not filled by your own producer: a subscription of SNS, a rule of
// EventBridge, notifications of S3, or a producer that compresses.
//
// # Envelopes
//
// Each function wraps a handler.Handler in another that opens the envelope first. The payload
// inside becomes the message's content, which is what handler.JSON decodes, and what keys and
// payload hashes are made of. The body stays as it is, and so does what a dead letter and its
// replay carry. They can be nested, the outermost envelope first: EventBridge by way of SNS is
// SNS(EventBridge(h), nil).
//
// Envelopes are never guessed: without a function of this package, a body is the payload.
//
// # Errors
//
// A message that does not have the expected envelope fails permanently, with a
// *fault.DecodeError that says what was expected, what was found, and what to do about it.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use.
package envelope
