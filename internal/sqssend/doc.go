// Package sqssend sends messages to one queue in as few calls as SQS allows, reads the
// answer for each message, and keeps the order inside message groups.
package sqssend
