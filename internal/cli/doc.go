// Package cli implements the sqsafe command: one file for each subcommand, and
// the output of their results.
package cli
