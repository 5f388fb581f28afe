// Package eventsource implements the SQS event source mapping of AWS Lambda as
// AWS documents it: it receives messages, forms batches, invokes a function and
// deletes the messages that the function did not report as failed.
//
// Messages that match none of the mapping's filters are deleted without an
// invocation.
//
// A failed message is not changed: it becomes visible when its visibility
// timeout ends, and the queue's redrive policy counts its receives. The mapping
// never changes a visibility timeout.
package eventsource
