// Package producer sends jobs to a queue: with the key that makes them take effect once,
// the message group, the deduplication id and the trace context.
//
// A [Producer] sends as many jobs as it is given in as few calls as SQS allows (ten
// messages and 1 MiB a call), and returns for each job whether it has arrived. It sends
// again what failed on the side of SQS. If a job for a FIFO queue was not sent, the later
// jobs of its message group are not sent either.
//
// A payload that is too large for a message can be compressed ([Options].GzipFrom) or stored
// elsewhere ([Options].ClaimCheck). Package envelope reads both.
//
// Package jobs tells what became of a job.
package producer
