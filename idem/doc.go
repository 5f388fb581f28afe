// Package idem makes a job run once although its message is delivered more
// than once.
//
// [Middleware] claims the job's key in a [Store] before the user's function
// runs, and writes afterwards what became of it. A delivery that comes later
// is then recognised: as a duplicate of a job that has its outcome, or as a
// copy of one that is being handled right now. A claim ends with its lease, so
// that a job whose process was killed is taken over; who was slow instead of
// dead finds its owner token replaced and overwrites nothing. Where the
// invocation has no deadline the claim is renewed as long as the job runs, and
// the job's context ends with a [*LostError] if that fails for too long.
//
// A job whose earlier run may have ended its process runs when no other job of
// the process does, and is dead-lettered when it goes on to do so; those that ran
// beside it finish.
//
// The effect itself and the record of it are two steps, and a process can die
// between them. Pass [Key] on to everything that takes an idempotency key, so
// that a second run repeats nothing there either: [Transport] does so for HTTP,
// [ClientRequestToken], [DeduplicationID] and [SQLKey] make of it what others
// take. Where the effect is a write to DynamoDB, a [Completion] makes the two
// one.
//
// [Step] makes a part of a job run once over all attempts of the job.
//
// Package idem/dynamo has the store for production, [NewMemory] one for tests
// and one process, and idem/idemtest the suite that a store has to pass.
package idem
