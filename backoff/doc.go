// Package backoff computes how long a failed job waits before its next run, and how many runs
// it gets.
//
//	sqsafe.Start(charge, func(o *sqsafe.Options) { o.Backoff = backoff.Exponential{MaxAttempts: 10} })
//
// The default suits most functions: the zero value of [Exponential] waits for 1, 2, 4 s and so
// on, and gives a job eight runs. Functions use this package to choose another profile.
//
// # Profiles
//
// A profile returns the delay after each failure: [Exponential], [Stepped] or [Constant]. Each
// adds random jitter in one of three ways ([JitterKind]), so that jobs that failed together
// are not retried together.
//
// # From a profile to SQS
//
// The delay of a message is computed in three steps: an exact duration (the Delay of a
// profile, or [Spread] over a delay that an error asked for), whole seconds ([WholeSeconds]),
// and the range that SQS accepts ([Clamp]). The functions are pure. The random source is a
// parameter: a function that returns numbers in [0, 1), which is rand.Float64 of math/rand/v2
// in production.
//
// # Errors
//
// The method Validate of a profile returns a [*FieldError] for each field that is wrong.
// handler.NewProcessor calls it.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use, as long as nobody changes the Steps
// of a [Stepped].
package backoff
