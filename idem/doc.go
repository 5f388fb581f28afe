// Package idem makes a job take effect once although its message is delivered more
// than once.
//
// A [Ledger] claims the job's key in a [Store] before the user's function runs, and
// stores the outcome afterwards. A later delivery is then a duplicate of a completed job,
// or a copy of a job that another delivery has claimed. A claim expires with its lease,
// so that another delivery takes over the job of a process that died. An owner that was
// only slow then finds another token in the item and overwrites nothing. If the
// invocation has no deadline, the claim is renewed until the job is settled. If renewal
// fails for too long, the context of the job is cancelled with a [*LostError].
//
// A suspect is a job that may have crashed its process twice. It runs alone in its
// process, and is dead-lettered if it crashes the process again. Jobs that ran beside it
// are not blamed.
//
// The effect of a job and its record are two steps, and a process can die between them.
// Pass [Key] on to every receiver that takes an idempotency key, so that a second run
// repeats no effect there. [Transport] does so for HTTP. [ClientRequestToken],
// [DeduplicationID] and [SQLKey] return the forms that other receivers take. If the
// effect is a write to DynamoDB, a [Completion] makes both steps one transaction.
//
// [Step] records a part of a job, so that later attempts do not run it again. [Each] runs
// a step for each item of a job.
//
// [New] makes the Ledger for handler.Options. Package idem/dynamo has the store for
// production, [NewMemory] returns one for tests and for programs with one process, and
// idem/idemtest has the test suite that every store must pass.
package idem
