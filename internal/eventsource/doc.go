// Package eventsource is the SQS event source mapping of AWS Lambda as AWS
// documents it: it receives messages, makes batches of them, invokes a function
// and deletes what the function did not report as failed.
//
// Messages that the mapping's filters do not let pass are deleted without an
// invocation.
//
// A failed message is left alone: it comes back when its visibility timeout
// ends, and the queue's redrive policy counts its receives. The mapping itself
// never changes a visibility timeout.
package eventsource
