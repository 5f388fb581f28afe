package handler

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// Hooks are told what becomes of messages. They change nothing: a hook that panics is
// logged. The answer of the batch waits for them, up to the end of the invocation.
// All of them must be safe for concurrent use, and nil ones are skipped.
type Hooks struct {
	// OnError is called once for each run that failed, with the decision on its error:
	// a retry, a death, a drop or a crash. The Result is the hook's own.
	OnError func(ctx context.Context, m *Message, r *Result)
	// OnDead is called once the dead-letter queue has confirmed a message, with the id
	// that it gave.
	OnDead func(ctx context.Context, letter Letter, deadLetterID string)
	// OnBatch is called at the end of each batch, before a crash too.
	OnBatch func(ctx context.Context, r Report)
}

// Report is what became of one batch, for metrics.
type Report struct {
	// Queue is the name of the queue; empty for a batch without messages.
	Queue string
	// Messages is the size of the batch.
	Messages int
	// Counts tell how many messages had which end, in the order of their first.
	Counts []Count
	// Runs is how many of the messages the user's function ran for.
	Runs int
	// Sent and Unsent count the dead letters that the dead-letter queue confirmed,
	// and those that it did not.
	Sent, Unsent int
	// Unsettled counts the messages whose visibility timeout could not be changed,
	// or that could not be deleted before a crash.
	Unsettled int
	// BreakerOpen tells whether the rest of the batch was deferred since
	// what jobs depend on is down.
	BreakerOpen bool
	// Crashed tells whether the process ends after this batch.
	Crashed bool
	// Took is how long the batch has taken, TimeLeft how much of the invocation's
	// time was left; 0 where it has no limit.
	Took, TimeLeft time.Duration
}

// Count is the number of messages with one end.
type Count struct {
	Outcome Outcome
	// Class is the class of the error; without one ClassUnclassified.
	Class  fault.Class
	Reason string
	N      int
}
