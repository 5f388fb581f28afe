// Package backoff says how long a failed job waits.
//
// Its functions are pure: chance comes in as a function that gives numbers in
// [0, 1), which is rand.Float64 of math/rand/v2 in production. The delay of a
// message is made in three steps: an exact duration ([Exponential.Delay], or
// [Spread] over a delay that somebody asked for), whole seconds ([WholeSeconds]),
// and what SQS accepts ([Clamp]).
package backoff
