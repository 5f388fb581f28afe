// Package sqs is a strict in-memory emulator of Amazon SQS: standard and FIFO
// queues with receive counts, visibility timeouts, delays, long polling,
// redrive to dead-letter queues, and message move tasks that move messages
// back.
//
// It answers as AWS documents and was recorded to answer, errors included. What
// it does not implement (other accounts) it refuses with an error that names it.
// It stores queue policies, permissions and encryption settings but does not
// apply them: every caller is the account's owner.
package sqs
