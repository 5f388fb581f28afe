// Package queue is the source queue as the processor uses it: it changes the
// visibility of messages and deletes them, many at a call, and answers for each.
//
// The queue of a message is known from its ARN, so one [Client] serves every
// queue that its client may call. Calls that fail are not retried here, since the
// SDK does that already. Entries that fail in a call that succeeds are, for a
// moment, if SQS is to blame.
package queue
