// Package dynamo keeps the jobs of package idem in a DynamoDB table, one item
// per job.
//
// The table's partition key is "id", of type String, and its TTL attribute is
// "expiration". The attributes that Powertools for AWS Lambda has are named and
// measured as there: id, status, expiration (epoch seconds),
// in_progress_expiration (epoch milliseconds) and validation. So one table can
// serve both, but a key belongs to one writer, since Powertools knows no owner
// and no dead job. The others are owner, message_id, epoch, claims, settled,
// crashes, crash_stack, attempts, unclassified, history (JSON), dead_at (epoch
// milliseconds), verdict (JSON), dlq_message_id and steps (a map of JSON by
// name).
//
// All calls are conditional UpdateItem: two for a job that runs, three for one
// that may have ended its process before, one for a duplicate, one for each step
// that is recorded and each time that a claim is renewed, and no read. That is
// the one right on the table that a function needs, also where the last write is
// the [Completion] in a transaction of the function's own.
package dynamo
