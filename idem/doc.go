// Package idem makes a job take effect once although its message is delivered more than once.
//
//	client := &http.Client{Transport: idem.Transport{}} // sends the job's key as Idempotency-Key
//	token := idem.ClientRequestToken(ctx)               // for calls at AWS
//	err := idem.Step(ctx, "mail", sendMail)             // is not repeated by a later attempt
//
// Functions use it to pass their job's key on, and for steps. Package sqsafe makes the ledger;
// [New] makes it for a handler.Processor of your own.
//
// # The ledger
//
// A [Ledger] claims the job's key in a [Store] before the user's function runs, and stores the
// outcome afterwards. A later delivery is then a duplicate of a completed job, or a copy of a
// job that another delivery has claimed. A claim expires with its lease, so that another
// delivery takes over the job of a process that died. An owner that was only slow then finds
// another token in the item and overwrites nothing. If the invocation has no deadline, the
// claim is renewed until the job is settled.
//
// A suspect is a job that may have crashed its process twice. It runs alone in its process,
// and is dead-lettered if it crashes the process again. Jobs that ran beside it are not blamed.
//
// # Passing the key on
//
// The effect of a job and its record are two steps, and a process can die between them. Pass
// [Key] on to every receiver that takes an idempotency key, so that a second run repeats no
// effect there. [Transport] does so for HTTP. [ClientRequestToken], [DeduplicationID] and
// [SQLKey] return the forms that other receivers take. If the effect is a write to DynamoDB,
// a transaction makes both steps one: package dynamo has it.
//
// # Steps
//
// [Step] records a part of a job, so that later attempts do not run it again, and [StepValue]
// its result too. [Each] runs a step for each item of a job.
//
// # Stores
//
// Package idem/dynamo has the store for production, [NewMemory] returns one for tests and for
// programs with one process, and idem/idemtest has the test suite that every store must pass.
// [Decide] is the whole protocol of claiming. [Answer], [Claim], [Item], [Request] and
// [Settlement] are for stores, and functions need none of them.
//
// # Errors
//
// A [*StepError] says that a step was misused, a [*LostError] that another delivery has taken
// over the job, which also cancels its context. Return both as they are, or wrapped.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use. Steps of a job may run at the same
// time and be nested.
package idem
