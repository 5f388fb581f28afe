package handler

import "github.com/aws/aws-lambda-go/events"

// response names the messages that are to come back: each once, only ones of this
// batch, and never null, which would pass for success.
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

// comingBack has the ids of which not every message is acknowledged. The watchdog
// calls it too, while the batch may still be at work.
func (b *batch) comingBack() map[string]bool {
	back := map[string]bool{}
	for _, d := range b.deliveries {
		if !d.acked.Load() {
			back[d.record.MessageId] = true
		}
	}
	return back
}
