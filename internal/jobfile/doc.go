// Package jobfile reads jobs from files and sends them to queues with as few calls
// as SQS allows.
package jobfile
