// Package cli is the sqsafe command: one file for each subcommand, and how
// their results are shown.
package cli
