// Package fault classifies the errors of jobs: whether a later attempt can
// help, for which reason, and which rule decided.
//
// A handler that knows the answer tags its error with [Permanent], [Retryable]
// or [RetryAfter]. All other errors are classified by [Classify] with a [Table]
// of rules. A rule looks at the error alone and does no I/O, so the hundredth
// attempt is judged as the first was.
//
// [Table.Override], [Table.With] and [SQLState] change what the standard table
// decides. docs/errors.md lists its rules and what each one matches.
//
// Everything in this package is safe for concurrent use, as long as nobody
// writes to a Table while another goroutine classifies with it.
package fault
