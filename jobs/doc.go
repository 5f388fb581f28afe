// Package jobs tells what became of a job: it reads the ledger by the job's key.
//
//	charges, err := jobs.New(dynamodb.NewFromConfig(cfg), "ledger", "charges")
//	…
//	status, err := charges.Wait(ctx, "ch-1", nil)
//
// It is for programs that send jobs and have to know the end, such as an HTTP handler that
// answers with it. Package producer sends jobs.
//
// # What the ledger knows
//
// The ledger knows a job from its first delivery on. A job that is still in the queue, and has
// never been delivered, is [Unknown]. So is a job that was never sent, and one whose item the
// ledger has deleted after its time.
//
// # Errors
//
// A job that is dead or unknown is no error. A [*WaitError] says that the context ended before
// the job did; other errors are those of the client.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use.
package jobs
