// Package sqsevent decodes the events that Lambda creates from SQS messages.
//
// Decoding the event is the largest part of the cost of a batch, and its format
// is known: an event in the format of Lambda is decoded in one pass, with one
// copy of the text. Everything else is decoded by encoding/json, so that
// results and errors are always those of encoding/json.
package sqsevent
