package handler_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// A letter does not wait for a job of hours beside it: its lease would end before, and
// SQS might move the message without its record.
func TestALetterDoesNotWaitForALongJob(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, 15 * time.Minute} {
		inBubble(t, timeout.String(), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.Concurrency = timeout, 2
			s.ledger.letterLease = func(*handler.Message) time.Duration { return time.Minute }
			start := time.Now()
			var sent []time.Duration
			s.onSend = func(context.Context) { sent = append(sent, time.Since(start)) }
			ids := s.run(t, record("long", "14m"), record("d1", "permanent"), record("d2", "permanent"),
				record("d3", "10s permanent"))
			if timeout == 0 && len(ids) > 0 || slices.Contains(ids, "d1") || len(s.dead()) != 3 {
				t.Errorf("reported %v, dead %v", ids, s.dead())
			}
			if diff := cmp.Diff([]time.Duration{time.Second, 11 * time.Second}, sent); diff != "" {
				t.Errorf("sent after (-want +got):\n%s", diff)
			}
		})
	}
}
