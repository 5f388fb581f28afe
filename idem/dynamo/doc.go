// Package dynamo keeps the jobs of package idem in a DynamoDB table, one item for each job.
//
//	store := dynamo.New(dynamodb.NewFromConfig(cfg), "ledger", nil)
//	ledger, err := idem.New(store, &idem.Options{Key: idem.JSONField("id")})
//
// Package sqsafe makes the store itself. Functions use this package if their effect is a write
// to DynamoDB: with a [Transactor], or with [Completion] in a transaction of their own, the
// effect and its record are one write.
//
// # The table
//
// The partition key is "id", of type String, and the TTL attribute is "expiration". The
// attributes that Powertools for AWS Lambda has are named and measured as there: id, status,
// expiration (epoch seconds), in_progress_expiration (epoch milliseconds) and validation. So
// one table can serve both, but a key belongs to one writer, since Powertools knows no owner
// and no dead job. The others are owner, message_id, epoch, claims, settled, crashes,
// crash_stack, attempts, unclassified, history (JSON), dead_at (epoch milliseconds), verdict
// (JSON), dlq_message_id and steps (a map of JSON by name).
//
// # Calls and rights
//
// All calls are conditional UpdateItem: two for a job that runs, three for one that may have
// ended its process before, one for a duplicate, one for each step that is recorded and each
// time that a claim is renewed, and no read. dynamodb:UpdateItem is the one right on the table
// that a function needs, also for a transaction.
//
// # Errors
//
// [ErrNoClaim] says that a context is not that of a running job, [ErrContended] that an item
// changed with every try. Other errors are those of the client, which package fault
// classifies.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use.
package dynamo
