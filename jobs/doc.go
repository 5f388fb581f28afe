// Package jobs tells what became of a job: it reads the ledger by the job's key.
//
//	charges, err := jobs.New(client, "ledger", "charges")
//	…
//	status, err := charges.Wait(ctx, "ch-1", nil)
//
// The ledger knows a job from its first delivery on. A job that is still in the queue, and
// has never been delivered, is [Unknown]. So is a job that was never sent, and one whose
// item the ledger has deleted after its time.
//
// Package producer sends jobs.
package jobs
