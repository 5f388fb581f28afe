// Package fault classifies the errors of jobs: whether a later attempt can help, for which
// reason, and which rule decided.
//
//	if errors.Is(err, card.ErrDeclined) {
//		return fault.Permanent(err, fault.WithReason("card_declined"))
//	}
//	return err // by the rules: a timeout is retried
//
// Functions use it to tag an error whose meaning they know: with [Permanent], [Retryable] or
// [RetryAfter]. [CheckResponse] makes the error of an HTTP response. Most errors need no tag.
//
// # Rules
//
// Errors without a tag are classified by a [Table] of rules. A rule looks at the error alone
// and does no I/O, so the hundredth attempt is judged as the first was. The page
// docs/errors.md lists the standard rules and what each one matches. [Table.Override],
// [Table.With] and [SQLState] change what they decide; the table is handler.Options.Classifier.
//
// # Classes
//
// An error is permanent (the job is dead), retryable (the job comes back within its budget),
// or unclassified (the job gets few runs); see [Class].
//
// # Errors
//
// The tags keep the error that they are given: errors.Is and errors.As find it. Tables are
// made at the start of a program, so [Table.Override], [Table.With] and [SQLState] panic if
// they are misused.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use, as long as nobody writes to a [Table]
// while another goroutine classifies with it.
package fault
