// Package jobs reads jobs from files and sends them to queues, in as few calls
// as SQS allows.
package jobs
