package eventsource_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/eventsource"
)

func TestEventHasTheFormatOfAWS(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile(filepath.Join("testdata", "event.golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var event []byte
		m := mapping()
		m.QueueARN = "arn:aws:sqs:us-east-2:123456789012:stock.fifo"
		run(t, m, newQueue(sample()...), func(_ context.Context, e []byte) ([]byte, error) {
			event = e
			return nil, nil
		}, time.Second)
		var got bytes.Buffer
		if err := json.Indent(&got, event, "", "  "); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimSpace(string(golden)), got.String()); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
		var decoded events.SQSEvent
		if err := json.Unmarshal(event, &decoded); err != nil {
			t.Fatal(err)
		}
		if got := decoded.Records[0].MessageAttributes["photo"].BinaryValue; string(got) != "\x00\xff" {
			t.Errorf("the runtime's type reads the binary attribute as %q", got)
		}
	})
}

func sample() []arrival {
	full := types.Message{
		MessageId:     aws.String("6f2d1c0e-3b7a-4d55-9e0b-1a2b3c4d5e6f"),
		ReceiptHandle: aws.String("AQEBfirst"),
		Body:          aws.String("{\"note\":\"<a & b> \u20ac \\ud83d\"}\n"),
		Attributes: map[string]string{
			"ApproximateFirstReceiveTimestamp": "1767323045700",
			"ApproximateReceiveCount":          "3",
			"MessageDeduplicationId":           "d-1",
			"MessageGroupId":                   "g-1",
			"SenderId":                         "AIDAEXAMPLE",
			"SentTimestamp":                    "1767323045123",
			"SequenceNumber":                   "18900000000000000001",
		},
		MessageAttributes: map[string]types.MessageAttributeValue{
			"amount": {DataType: aws.String("Number.cents"), StringValue: aws.String("1250")},
			"photo":  {DataType: aws.String("Binary"), BinaryValue: []byte{0, 255}},
			"trace":  {DataType: aws.String("String"), StringValue: aws.String("t-1")},
		},
		MD5OfBody:              aws.String("a23f719a6906f5d283a7e9e6c669bd53"),
		MD5OfMessageAttributes: aws.String("b0988433e77843dbd7bbf9de83d83b33"),
	}
	bare := types.Message{
		MessageId:     aws.String("0a9b8c7d-6e5f-4a3b-8c2d-1e0f9a8b7c6d"),
		ReceiptHandle: aws.String("AQEBsecond"),
		Body:          aws.String("plain"),
		MD5OfBody:     aws.String("ac7938d40cfc2307e2bf325d28e7884e"),
	}
	return []arrival{{0, full}, {0, bare}}
}

func TestObservedMessagesHaveGroupAndReceiveCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := run(t, mapping(), newQueue(sample()...), answers("{}"), time.Second)
		want := []eventsource.Message{
			{ID: "6f2d1c0e-3b7a-4d55-9e0b-1a2b3c4d5e6f", GroupID: "g-1", ReceiveCount: 3},
			{ID: "0a9b8c7d-6e5f-4a3b-8c2d-1e0f9a8b7c6d"},
		}
		got := s.events[0]
		if diff := cmp.Diff(want, got.Messages); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		if got.QueueARN != standardARN || !got.Time.Equal(time.Now().Add(-time.Second)) {
			t.Errorf("event of %s at %s", got.QueueARN, got.Time)
		}
	})
}

func TestLargeBatchIsInvokedInParts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		suffix string
		answer string
		err    error
		undone error // of all deletions
		want   []string
	}{
		"standard, not deleted": {
			answer: "{}",
			undone: errFunction,
			want:   []string{"invoked m1 m2 m3", "delete_failed m1 m2 m3", "invoked m4 m5", "delete_failed m4 m5"},
		},
		"FIFO, not deleted": { // the first part comes again, before the second
			suffix: ".fifo",
			answer: "{}",
			undone: errFunction,
			want:   []string{"invoked m1 m2 m3", "delete_failed m1 m2 m3", "withheld m4 m5"},
		},
		"standard, function error": {
			err:  errFunction,
			want: []string{"invoked m1 m2 m3", "failed m1 m2 m3", "invoked m4 m5", "failed m4 m5"},
		},
		"FIFO, function error": {
			suffix: ".fifo",
			err:    errFunction,
			want:   []string{"invoked m1 m2 m3", "failed m1 m2 m3", "withheld m4 m5"},
		},
		"standard, first part fails": {
			answer: failures("m1"),
			want: []string{"invoked m1 m2 m3", "reported m1", "deleted m2 m3",
				"invoked m4 m5", "malformed m4 m5"},
		},
		"FIFO, first part fails": {
			suffix: ".fifo",
			answer: failures("m1"),
			want:   []string{"invoked m1 m2 m3", "reported m1", "deleted m2 m3", "withheld m4 m5"},
		},
		"FIFO, no failures": {
			suffix: ".fifo",
			answer: "{}",
			want:   []string{"invoked m1 m2 m3", "deleted m1 m2 m3", "invoked m4 m5", "deleted m4 m5"},
		},
	}
	// A quotation mark takes two bytes in JSON, so three of these messages fill
	// an event.
	body := strings.Repeat(`"`, 1<<20-200)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newQueue()
				q.deleteErr = test.undone
				for _, id := range numbered(1, 5) {
					q.arrivals = append(q.arrivals, arrival{0, message(id, body)})
				}
				m := mapping()
				m.QueueARN += test.suffix
				s := run(t, m, q, func(_ context.Context, event []byte) ([]byte, error) {
					if len(event) > 6<<20 || len(records(t, event)) > 3 {
						t.Errorf("event of %d bytes", len(event))
					}
					return []byte(test.answer), test.err
				}, time.Second)
				if diff := cmp.Diff(test.want, s.lines()[1:]); diff != "" {
					t.Errorf("observed (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestBatchEndsAtTheMaximumEventSize(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		for _, id := range numbered(1, 10) {
			q.arrivals = append(q.arrivals, arrival{0, message(id, strings.Repeat("x", 1<<20))})
		}
		q.arrivals = append(q.arrivals, at(time.Second, 11, 11)...)
		m := mapping()
		m.BatchSize, m.Window = 100, time.Minute
		s := run(t, m, q, answers("{}"), 2*time.Second)
		if got := len(s.of(eventsource.Received)[0].Messages); got != 10 {
			t.Errorf("first batch of %d messages, want the 10 that fill an event", got)
		}
	})
}
