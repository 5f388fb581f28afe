// Package producer sends jobs to a queue: with the key that makes them take effect once,
// the message group, the deduplication id and the trace context.
//
// A [Producer] sends as many jobs as it is given in as few calls as SQS allows (ten
// messages and 1 MiB a call), and says of each job whether it has arrived. It sends again
// what SQS could not take for a reason of its own. In a FIFO queue no job is sent behind
// one of its message group that was not.
//
// A payload that is too large for a message can be compressed ([Options].GzipFrom) or stored
// elsewhere ([Options].ClaimCheck). Package envelope reads both.
//
// Package jobs tells what became of a job.
package producer
