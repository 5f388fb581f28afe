// Package queue changes the visibility timeout of messages of a source queue and deletes
// messages, in batch calls with an answer for each message.
//
// The queue's URL is derived from the message's ARN, so one [Client] serves every queue
// that its client may call. A failed call is not retried here, since the SDK does that
// already. A failed entry of a successful call is retried for a short time if SQS is at
// fault.
package queue
