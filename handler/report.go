package handler

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// Hooks are functions that are called with the outcomes of messages. They cannot change
// an outcome; a panic of a hook is logged. The response of the batch waits for them, up
// to the end of the invocation. All of them must be safe for concurrent use. Nil hooks
// are skipped.
type Hooks struct {
	// OnError is called once for each failed run, with the decision on its error: retry,
	// dead, dropped or crash. The hook owns the Result.
	OnError func(ctx context.Context, m *Message, r *Result)
	// OnDead is called when the dead-letter queue has confirmed a message, with the
	// message id in that queue.
	OnDead func(ctx context.Context, letter Letter, deadLetterID string)
	// OnBatch is called at the end of each batch, before a crash too.
	OnBatch func(ctx context.Context, r Report)
}

// Report summarises one batch, for metrics.
type Report struct {
	// Queue is the name of the queue; empty for a batch without messages.
	Queue string
	// Messages is the size of the batch.
	Messages int
	// Counts are the numbers of messages by outcome, class and reason, in the order in
	// which each was first seen.
	Counts []Count
	// Runs is the number of messages for which the user's function was called.
	Runs int
	// Sent counts the dead letters that the dead-letter queue confirmed, Unsent the
	// others.
	Sent, Unsent int
	// Unsettled counts the messages whose visibility timeout could not be changed,
	// or that could not be deleted before a crash.
	Unsettled int
	// BreakerOpen reports whether the breaker was open at the end: a dependency is down,
	// and other jobs are deferred.
	BreakerOpen bool
	// Crashed reports whether the process ends after this batch.
	Crashed bool
	// Jobs has the times of each message, in the order of the batch.
	Jobs []JobReport
	// Took is the duration of the batch. TimeLeft is the time until the deadline; 0
	// without a deadline, and after it.
	Took, TimeLeft time.Duration
}

// JobReport has the times of one message.
type JobReport struct {
	// Outcome is what became of the message. Reason says why; empty if there is none.
	Outcome Outcome
	Reason  string
	// Ran reports whether the user's function was called, and Run is how long it took; 0 if
	// it did not return.
	Ran bool
	Run time.Duration
	// Age is the time from the send of the message to its outcome, by the clocks of SQS and
	// of this machine; 0 if the message does not say when it was sent.
	Age time.Duration
	// Budget is the number of attempts of the budget that the job has used.
	Budget int
}

// Count is the number of messages with one outcome, class and reason.
type Count struct {
	Outcome Outcome
	// Class is the class of the error; ClassUnclassified without an error.
	Class  fault.Class
	Reason string
	N      int
}
