// Package envelope takes off what SNS, EventBridge and encoders wrap a payload
// in, before it is decoded.
//
// Each function wraps a handler.Handler in another that looks into the envelope
// first: what is inside becomes the message's content, which is what
// handler.JSON decodes, and what keys and payload hashes are made of. The body
// stays as it is, and so does what a dead letter and its replay carry.
//
//	envelope.SNS(handler.JSON(charge), nil)
//
// They nest, the outermost envelope first: EventBridge by way of SNS is
// SNS(EventBridge(h), nil).
//
// A message that is not in the envelope it should be in is permanently failed,
// with a *fault.DecodeError that says what was expected, what was found, and what
// to do about it. Nothing is guessed: without a function of this package, a body
// is the payload.
//
// All of it is safe for concurrent use.
package envelope
