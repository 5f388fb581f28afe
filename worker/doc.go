// Package worker runs the jobs of an SQS queue in a long-running process, such as a
// container: the same handler as in Lambda, with messages from long polling.
//
// [Start] is the main function of a program. It reads the environment, handles SIGTERM
// and SIGINT, and ends the process with an exit code for the reason. [Worker] does the
// same without signals and exit codes.
//
// A batch has the messages of one receive. Its jobs run as in a Lambda function with
// ReportBatchItemFailures. While they run, a heartbeat extends the visibility timeout of
// their messages, so that a job may take longer than the queue's visibility timeout. A
// batch that is not full, or with ended jobs, leaves its slots to other batches.
//
// A worker stops by draining: it receives and starts nothing more, running jobs go on for
// up to [Options].Drain, and jobs that did not start are released for another process.
// Jobs that still run then are cancelled, and have up to 11 s to be settled. A cancelled
// job has not failed, uses no attempt, and is not blamed for a crash. A container needs a
// stop timeout that is longer than both together.
//
// Metrics of the batches are sent to CloudWatch once a minute, the same metrics that a
// Lambda function writes as log lines.
package worker
