// Package sqs is a strict stand-in for Amazon SQS: standard and FIFO queues with
// receive counts, visibility timeouts, delays, long polls and redrive to
// dead-letter queues.
//
// It answers as AWS documents it, refusals included; what it does not implement
// (message move tasks, tags, permissions) it refuses by name. It keeps queue
// policies and encryption settings but does not act on them: every caller is
// the account's owner.
package sqs
