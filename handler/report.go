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
	// BreakerOpen tells whether the rest of the batch was deferred since the
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

func (b *batch) report() Report {
	r := Report{
		Messages:    len(b.deliveries),
		BreakerOpen: b.breaker.isOpen(),
		Crashed:     b.crash != nil,
		Took:        time.Since(b.start),
	}
	if !b.end.IsZero() {
		r.TimeLeft = max(time.Until(b.end), 0)
	}
	at := map[Count]int{}
	for _, d := range b.deliveries {
		r.Queue = QueueName(d.record.EventSourceARN)
		r.add(d)
		kind := Count{Outcome: d.result.Outcome, Class: d.result.Decision.Class, Reason: d.result.Decision.Reason}
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

func (r *Report) add(d *delivery) {
	if d.run != nil && d.run.started() {
		r.Runs++
	}
	if d.failed {
		r.Unsettled++
	}
	switch {
	case d.result.Outcome != OutcomeDead:
	case d.sent:
		r.Sent++
	default:
		r.Unsent++
	}
}
