// Package fault says what an error means for a job: would a later attempt help
// or not, why, and which rule says so.
//
// A handler that knows tags its errors with [Permanent], [Retryable] or
// [RetryAfter]. For all others [Classify] asks a [Table] of rules, from the
// error alone and without I/O, so that attempt 100 is judged as attempt 1 was.
//
// [Table.Override], [Table.With] and [SQLState] change what the standard table
// decides. docs/errors.md has it with what each rule knows.
//
// Everything in this package is safe for concurrent use, as long as nobody
// writes to a Table while another goroutine classifies with it.
package fault
