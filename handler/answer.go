package handler

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// response lists each failed message of this batch once. The list is never null, which
// Lambda would read as success.
func (b *batch) response() events.SQSEventResponse {
	failures := []events.SQSBatchItemFailure{}
	back := b.comingBack()
	for _, d := range b.deliveries {
		if back[d.record.MessageId] {
			delete(back, d.record.MessageId)
			failures = append(failures, events.SQSBatchItemFailure{ItemIdentifier: d.record.MessageId})
		}
	}
	return events.SQSEventResponse{BatchItemFailures: failures}
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
	r.Jobs = make([]JobReport, 0, len(b.deliveries))
	at := map[Count]int{}
	for _, d := range b.deliveries {
		r.Queue = queueName(d.record.EventSourceARN)
		r.add(d)
		r.Jobs = append(r.Jobs, d.report())
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

// report returns the times of a message.
func (d *delivery) report() JobReport {
	j := JobReport{
		Outcome: d.result.Outcome, Reason: d.result.Decision.Reason, Ran: d.run != nil && d.run.started(), Run: d.took,
		Budget: max(d.job.Attempts, d.result.Job.Attempts),
	}
	if sent := d.message.SentAt(); !sent.IsZero() && !d.endedAt.IsZero() {
		j.Age = max(d.endedAt.Sub(sent), 0)
	}
	return j
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

// callOnBatch calls OnBatch with the report of the batch.
func (b *batch) callOnBatch() {
	if b.options.Hooks.OnBatch == nil {
		return
	}
	r := b.report()
	err := callOnGoroutine(func() { b.options.Hooks.OnBatch(context.WithoutCancel(b.ctx), r) })
	if err != nil {
		b.logHook("OnBatch", err)
	}
}
