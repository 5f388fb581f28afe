package handler

import "github.com/aws/aws-lambda-go/events"

// response names the messages that are to come back: each once, only ones of
// this batch, and never null, which would pass for success.
func (b *batch) response() events.SQSEventResponse {
	failures := []events.SQSBatchItemFailure{}
	back := b.comingBack()
	for _, e := range b.entries {
		if back[e.record.MessageId] {
			delete(back, e.record.MessageId)
			failures = append(failures, events.SQSBatchItemFailure{ItemIdentifier: e.record.MessageId})
		}
	}
	return events.SQSEventResponse{BatchItemFailures: failures}
}

// comingBack has the ids of which not every message is acknowledged.
func (b *batch) comingBack() map[string]bool {
	back := map[string]bool{}
	for _, e := range b.entries {
		if !e.acknowledged() {
			back[e.record.MessageId] = true
		}
	}
	return back
}
