package handler

import (
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

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
	// BreakerOpen tells whether the rest of the batch came back unrun since the
	// surroundings are down.
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

func (b *batch) report() Report {
	r := Report{
		Messages:    len(b.entries),
		BreakerOpen: b.breaker.open(),
		Crashed:     b.crash != nil,
		Took:        time.Since(b.invocation.start),
	}
	if b.invocation.bounded() {
		r.TimeLeft = max(time.Until(b.invocation.deadline), 0)
	}
	at := map[Count]int{}
	for _, e := range b.entries {
		r.Queue = QueueName(e.record.EventSourceARN)
		r.add(e)
		kind := Count{Outcome: e.result.Outcome, Class: e.result.Decision.Class, Reason: e.result.Decision.Reason}
		i, known := at[kind]
		if !known {
			i = len(r.Counts)
			at[kind] = i
			r.Counts = append(r.Counts, kind)
		}
		r.Counts[i].N++
	}
	return r
}

func (r *Report) add(e *entry) {
	if !e.message.started.IsZero() {
		r.Runs++
	}
	if e.unsettled {
		r.Unsettled++
	}
	switch {
	case e.result.Outcome != OutcomeDead:
	case e.sent:
		r.Sent++
	default:
		r.Unsent++
	}
}
