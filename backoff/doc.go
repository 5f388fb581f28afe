// Package backoff says how long a failed job waits, and how many runs it gets.
//
// A profile gives the delay after each failure: [Exponential], [Stepped] or
// [Constant]. Each spreads its delays by chance, in one of three ways
// ([JitterKind]), since jobs that failed together must not come back together.
//
// The functions are pure: chance comes in as a function that gives numbers in
// [0, 1), which is rand.Float64 of math/rand/v2 in production. The delay of a
// message is made in three steps: an exact duration (the Delay of a profile, or
// [Spread] over a delay that somebody asked for), whole seconds ([WholeSeconds]),
// and what SQS accepts ([Clamp]).
package backoff
