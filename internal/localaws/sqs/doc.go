// Package sqs is a strict stand-in for Amazon SQS: standard and FIFO queues with
// receive counts, visibility timeouts, delays, long polls, redrive to
// dead-letter queues and message move tasks back from there.
//
// It answers as AWS documents it, refusals included; what it does not implement
// (permissions, other accounts) it refuses by name. It keeps queue
// policies and encryption settings but does not act on them: every caller is
// the account's owner.
package sqs
