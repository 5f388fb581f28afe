// Package backoff computes how long a failed job waits before its next run, and
// how many runs it gets.
//
// A profile returns the delay after each failure: [Exponential], [Stepped] or
// [Constant]. Each adds random jitter in one of three ways ([JitterKind]), so
// that jobs that failed together are not retried together.
//
// The functions are pure. The random source is a parameter: a function that
// returns numbers in [0, 1), which is rand.Float64 of math/rand/v2 in
// production. The delay of a message is computed in three steps: an exact
// duration (the Delay of a profile, or [Spread] over a delay that an error
// asked for), whole seconds ([WholeSeconds]), and the range that SQS accepts
// ([Clamp]).
package backoff
