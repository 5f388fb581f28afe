package handler_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// What SQS says of a message has its limits, whatever stands there.
func FuzzMessageAttributes(f *testing.F) {
	for _, seed := range []string{"", "1", "0", "-1", "31", "1796040000000", "9223372036854775807", "1e3", " 1", "１"} {
		f.Add(seed, seed, "arn:aws:sqs:eu-west-1:123456789012:charges.fifo")
	}
	f.Fuzz(func(t *testing.T, receives, sent, arn string) {
		m := handler.Message{SQSMessage: events.SQSMessage{
			EventSourceARN: arn,
			Attributes:     map[string]string{"ApproximateReceiveCount": receives, "SentTimestamp": sent},
		}}
		if n := m.ReceiveCount(); n < 1 {
			t.Errorf("receive count %q is %d, want at least 1", receives, n)
		}
		if at := handler.NewTimestamp(m.SentAt()); at.Year() < 1 || at.Year() > 9999 {
			t.Errorf("sent %q is %v, which no record can hold", sent, at)
		}
		if name := m.QueueName(); len(name) > len(arn) {
			t.Errorf("queue %q of %q", name, arn)
		}
	})
}

// A verdict that somebody has written is read or refused, and what was read stays as it
// is when it is written and read again.
func FuzzFailure(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"epoch":9223372036854775807,"attempts":-1,"verdict":true}`, `{"epoch":1e400}`,
		`{"class":"permanent","reason":"declined","rule":"tag.permanent","firstFailure":"2026-11-30T10:00:00.000Z",` +
			`"history":{"attempts":[{"n":1,"delaySeconds":1e308,"start":"+99999-01-01"}],"dropped":-7}}`,
		`{"lastFailure":"0000-01-01T00:00:00+23:59"}`, `{"firstFailure":7,"message":"\ud800"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var read, again handler.Failure
		if json.Unmarshal([]byte(text), &read) != nil {
			return
		}
		written, err := json.Marshal(read)
		if err != nil {
			t.Fatalf("%s cannot be written: %v", text, err)
		}
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatalf("%s cannot be read: %v", written, err)
		}
		if diff := cmp.Diff(read, again); diff != "" {
			t.Errorf("%s changes (-read +again):\n%s", text, diff)
		}
		if n := read.History.Append(handler.Attempt{}).Len(); n != read.History.Len()+1 {
			t.Errorf("%s: a history of %d has %d after one more run", text, read.History.Len(), n)
		}
	})
}

// A time is a time of RFC 3339, or unknown.
func FuzzTimestamp(f *testing.F) {
	for _, seed := range []string{
		`"2026-11-30T10:00:00.123456789Z"`, `"0000-01-01T00:00:00+23:59"`, `"9999-12-31T23:59:59-23:59"`,
		`7`, `null`, `""`, `{`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var at, again handler.Timestamp
		if err := at.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatalf("%s makes the whole document unreadable: %v", text, err)
		}
		written, err := at.MarshalJSON()
		if err != nil || again.UnmarshalJSON(written) != nil || !again.Equal(at.Time) {
			t.Fatalf("%s is %v, and %v when it is written and read again: %v", text, at, again, err)
		}
		if at.Truncate(time.Millisecond) != at.Time {
			t.Errorf("%s is %v, want whole milliseconds", text, at)
		}
	})
}
