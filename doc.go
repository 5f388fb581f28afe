// Package sqsafe makes a Lambda function for SQS of a plain Go function, such
// that every failure of a job has a defined path: it is retried later with
// jitter, dead-lettered with the evidence, or recognised as a duplicate; or the
// process crashes cleanly. [Start] is all that most functions need.
//
// The parts stand on their own: package fault says what errors mean, backoff how
// long to wait, handler runs a batch, idem keeps jobs from taking effect twice,
// dlq keeps the evidence, and queue hides and deletes messages of the source queue.
//
// Package sqsafetest runs the function in a test, with the same options and environment.
package sqsafe
