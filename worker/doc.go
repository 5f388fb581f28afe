// Package worker runs the jobs of an SQS queue in a long-running process, such
// as a container: the same handler as in Lambda, fed by long polling.
//
// [Start] is the main of a program. It reads the environment, answers to
// SIGTERM and SIGINT, and ends the process with a code that says why. [Worker]
// is the same without the process around it.
//
// A batch is what one receive brings, and its jobs run as they do in a function
// with ReportBatchItemFailures. While they run, a heartbeat extends the visibility
// timeout of their messages, so that a job may take longer than the queue's own. A
// batch that is not full, or whose other jobs have ended, leaves its slots to others.
//
// To stop means to drain: nothing more is received or started, running jobs go on for
// as long as [Options].Drain allows, and what did not start is released for another
// process. What still runs then is cancelled, and has up to 11 s to be settled. An
// aborted job has neither failed nor lost an attempt, and is never blamed. A container
// needs a stop timeout that is longer than both together.
//
// What became of the jobs goes to CloudWatch once a minute, as the same metrics
// that a Lambda function writes in lines.
package worker
