// Package idem makes a job take effect once although its message is delivered more
// than once.
//
// A [Ledger] claims the job's key in a [Store] before the user's function runs, and
// writes afterwards what became of it. A delivery that comes later is then a duplicate
// of a job that has its outcome, or a copy of one that another delivery has. A claim
// ends with its lease, so that the job of a process that died is taken over. An owner
// that was slow, and not dead, finds its token replaced and overwrites nothing. Where
// the invocation has no deadline the claim is renewed until the job is settled, and the
// job's context ends with a [*LostError] if that fails for too long.
//
// A job that may have ended its process twice runs alone in its process, and is
// dead-lettered when it ends the process again and again. Jobs that ran beside it
// finish.
//
// The effect and the record of it are two steps, and a process can die between them.
// Pass [Key] on to everything that takes an idempotency key, so that a second run
// repeats nothing there either: [Transport] does so for HTTP, and [ClientRequestToken],
// [DeduplicationID] and [SQLKey] give the forms that other receivers take. Where the
// effect is a write to DynamoDB, a [Completion] makes the two steps one.
//
// [Step] makes a part of a job run once over all attempts of the job.
//
// Package idem/dynamo has the store for production, [NewMemory] one for tests and for
// programs of one process, and idem/idemtest the suite that a store has to pass.
package idem
