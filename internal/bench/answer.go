package main

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
)

// check returns an error unless an answer names exactly the messages that
// failed.
func (e *event) check(sequence int, answer []byte) error {
	var response events.SQSEventResponse
	if err := json.Unmarshal(answer, &response); err != nil {
		return fmt.Errorf("answer is not a batch response: %w", err)
	}
	due := make(map[string]bool, len(e.failing))
	for _, i := range e.failing {
		due[messageID(sequence, i)] = true
	}
	for _, failure := range response.BatchItemFailures {
		if !due[failure.ItemIdentifier] {
			return fmt.Errorf("answer reports %q, which did not fail or is reported twice", failure.ItemIdentifier)
		}
		delete(due, failure.ItemIdentifier)
	}
	if len(due) > 0 {
		return fmt.Errorf("answer leaves out %d of %d messages that failed", len(due), len(e.failing))
	}
	return nil
}
