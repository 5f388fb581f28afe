package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/internal/bench/job"
)

func decode(t testing.TB, payload []byte) events.SQSEvent {
	t.Helper()
	var decoded events.SQSEvent
	if err := json.Unmarshal(payload, &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestEventsMatchTheirShape(t *testing.T) {
	t.Parallel()
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			e := s.event()
			records := decode(t, e.payload).Records
			if s.messages > 0 && len(records) != s.messages || len(e.ids) != len(records) {
				t.Errorf("%d records and %d ids, want %d", len(records), len(e.ids), s.messages)
			}
			var failing int
			for i, r := range records {
				var order job.Order
				if err := json.Unmarshal([]byte(r.Body), &order); err != nil {
					t.Fatal(err)
				}
				if order.Fail {
					failing++
				}
				if len(r.Body) != s.bodyBytes || len(r.ReceiptHandle) != handleBytes || order.ID == "" {
					t.Fatalf("record %d has a body of %d bytes and a handle of %d", i, len(r.Body), len(r.ReceiptHandle))
				}
			}
			if failing != len(e.failing) || s.failEvery > 0 && failing != len(records)/s.failEvery {
				t.Errorf("%d of %d records fail, the event says %d", failing, len(records), len(e.failing))
			}
		})
	}
}

func TestTheLargestBatchFillsAnEvent(t *testing.T) {
	t.Parallel()
	s := shape{bodyBytes: 200}
	e := s.event()
	next := len(record(len(e.ids), s.body(len(e.ids), false))) + len(",")
	if len(e.payload) > maxEvent || len(e.payload)+next <= maxEvent {
		t.Errorf("%d messages take %d bytes, a further one %d, of %d", len(e.ids), len(e.payload), next, maxEvent)
	}
}

func TestRenewedIDsAreNew(t *testing.T) {
	t.Parallel()
	e := shape{messages: 3, bodyBytes: 200}.event()
	before := string(e.payload)
	seen := map[string]bool{}
	for sequence := range 3 {
		for i, r := range decode(t, e.renewed(sequence)).Records {
			if seen[r.MessageId] || r.MessageId != messageID(sequence, i) || len(r.MessageId) != len(emptyID) {
				t.Errorf("record %d of event %d has the id %q", i, sequence, r.MessageId)
			}
			seen[r.MessageId] = true
		}
	}
	if string(e.payload) != before || !strings.Contains(before, emptyID) {
		t.Error("the event itself has changed")
	}
}
