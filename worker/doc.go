// Package worker runs the jobs of an SQS queue in a long-running process, such as a
// container: the same function as in Lambda, with messages from long polling.
//
//	func main() { worker.Start(charge, sqsafe.KeyField("id")) }
//
// It is for jobs of more than 15 minutes, and for machines that are there anyway. [Start] is
// the main function of a program: it reads the environment, handles SIGTERM and SIGINT, and
// ends the process with an exit code for the reason. [Worker] does the same without signals
// and exit codes, for programs that make the handler.Processor themselves.
//
// # Batches
//
// A batch has the messages of one receive. Its jobs run as in a Lambda function with
// ReportBatchItemFailures. While they run, a heartbeat extends the visibility timeout of
// their messages, so that a job may take longer than the queue's visibility timeout. A batch
// that is not full, or with ended jobs, leaves its slots to other batches.
//
// # Shutdown
//
// A worker stops by draining: it receives and starts nothing more, running jobs go on for up
// to [Options].Drain, and jobs that did not start are released for another process. Jobs that
// still run then are cancelled, and have up to 11 s to be settled. A cancelled job has not
// failed, uses no attempt, and is not blamed for a crash. A container needs a stop timeout
// that is longer than both together.
//
// # Metrics and probes
//
// Metrics of the batches are sent to CloudWatch once a minute, the same metrics that a Lambda
// function writes as log lines. [Worker.Health] answers the probes of an orchestrator, and
// Prometheus.
//
// # Errors
//
// [Worker.Run] returns nil after a clean end, [ErrForced] if jobs were cut off, and a
// [*CrashError] if user code has panicked or ignored its cancellation. [ExitCode] has the exit
// code for each.
//
// # Concurrency
//
// A [Worker] runs once, for one queue. Its hooks and handlers are safe for concurrent use.
package worker
