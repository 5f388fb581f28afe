package envelope

import (
	"encoding/json"
	"fmt"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// ReasonS3TestEvent is the reason with which [S3] drops the test event of S3.
const ReasonS3TestEvent = "s3_test_event"

// s3TestEvent is what the test event calls itself.
const s3TestEvent = "s3:TestEvent"

// S3 is for a queue that S3 sends its event notifications to. A notification with
// at least one record passes as it is, so that it is decoded into events.S3Event
// or a type of one's own with Records.
//
// The test event that S3 sends whenever the notifications of a bucket are set up
// is acknowledged: its outcome is dropped, with [ReasonS3TestEvent]. Nothing is
// claimed for it, and it leaves no dead letter. Everything else is permanently
// failed. To fail the test event too, leave S3 away: it is no payload.
func S3(next handler.Handler) handler.Handler { return wrapped{next, openS3} }

func openS3(m *handler.Message) error {
	content := m.Content()
	body := object(content)
	if event, _ := body.text("Event"); event == s3TestEvent && body["Records"] == nil {
		return &handler.Result{
			Outcome: handler.OutcomeDropped, Decision: fault.Decision{Reason: ReasonS3TestEvent},
		}
	}
	var records []struct {
		S3 members `json:"s3"`
	}
	switch err := json.Unmarshal(body["Records"], &records); {
	case body == nil:
		return notS3(kind(content))
	case body["Records"] == nil:
		return notS3("a JSON object without Records")
	case err != nil:
		return notS3("a JSON object whose Records are no array of objects")
	case len(records) == 0:
		return notS3("a JSON object with empty Records")
	}
	for _, r := range records {
		if r.S3 == nil {
			return notS3("a JSON object with a record that has no s3")
		}
	}
	return nil
}

func notS3(what string) error {
	return fmt.Errorf("body is %s, want a notification of S3: see what else sends to the queue, "+
		"or take envelope.S3 away if its messages are none", what)
}
