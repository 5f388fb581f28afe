// Package handler turns a function for one message into a handler for the
// batches that Lambda fetches from an SQS queue.
//
// A [Processor] gives every message of a batch an [Outcome] of its own. The
// message is decoded and validated, passed through the middleware, and handed
// to the user's function; the error that comes back is classified on the spot
// and becomes a [Result]: retry after a delay, dead with the evidence, or one of
// the others. Dead jobs go to the dead-letter queue while others run. When all
// messages have run, the processor settles: it hides the failed ones for as long
// as their backoff says, and answers Lambda with the messages that are to come
// back.
//
// Stages share three things: the annotated [Message], the typed [Result] that
// travels as an error, and its AfterSend function for what must follow a
// confirmed dead letter.
package handler
