package handler

import "github.com/aws/aws-lambda-go/events"

// response names the messages that are to come back: each once, only ones of
// this batch, and never null, which would pass for success.
func (b *batch) response() events.SQSEventResponse {
	failures := []events.SQSBatchItemFailure{}
	seen := map[string]bool{}
	for _, e := range b.entries {
		id := e.message.MessageId
		if e.acknowledged() || seen[id] {
			continue
		}
		seen[id] = true
		failures = append(failures, events.SQSBatchItemFailure{ItemIdentifier: id})
	}
	return events.SQSEventResponse{BatchItemFailures: failures}
}
