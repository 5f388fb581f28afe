// Package producer sends jobs to a queue: with the key that makes them take effect once, the
// message group, the deduplication id and the trace context.
//
//	charges, err := producer.New(sqs.NewFromConfig(cfg), queueURL, nil)
//	…
//	sent, err := charges.Send(ctx, producer.Job{Key: "ch-1", Payload: Charge{ID: "ch-1", Amount: 1250}})
//
// It is for programs that send jobs; any other way to send a message to SQS works too. Package
// jobs tells what became of a job.
//
// # Sending
//
// A [Producer] sends as many jobs as it is given in as few calls as SQS allows (ten messages
// and 1 MiB a call), and returns for each job whether it has arrived. It sends again what
// failed on the side of SQS. If a job for a FIFO queue was not sent, the later jobs of its
// message group are not sent either.
//
// # Large payloads
//
// A payload that is too large for a message can be compressed ([Options].GzipFrom) or stored
// elsewhere ([Options].ClaimCheck). Package envelope reads both.
//
// # Errors
//
// A [*JobError] says that a job can never be sent as it is, and that nothing was sent. A
// [*SendError] says that some jobs may not have arrived; [Sent] says which, and a job with a
// key can be sent again.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use.
package producer
