package handlertest_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
)

// A visibility timeout of 5 s and runs of 10 s: SQS hands a message out again before
// its run has ended.
func TestAVisibilityTimeoutEndsDuringARun(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		queue    handlertest.Queue
		messages []handlertest.Message
		want     []string
	}{
		"done, and run again where no ledger knows": {
			bare(), bodies("slow ok"), []string{
				"m1 at 0s, receive 1: done, too late: its visibility timeout of 5s had ended",
				"m1 at 10s, receive 2: done",
			},
		},
		"done, and a duplicate for the ledger": {
			protected(), bodies("slow"), []string{
				"m1 at 0s, receive 1: done, too late: its visibility timeout of 5s had ended",
				"m1 at 10s, receive 2: duplicate (completed)",
			},
		},
		"a delay that is asked for too late is refused": {
			bare(), bodies("slow-retry ok"), []string{
				"m1 at 0s, receive 1: retry (busy), too late: its visibility timeout of 5s had ended: provider is busy",
				"m1 at 10s, receive 2: done",
			},
		},
		"a delete after a crash is too late too": {
			bare(), bodies("slow ok", "panic ok"), []string{
				"m1 at 0s, receive 1: done, too late: its visibility timeout of 5s had ended",
				"m2 at 0s, receive 1: crash (panic), back in 5s: panic: boom",
				"m1 at 10s, receive 2: done",
				"m2 at 10s, receive 2: done",
			},
		},
		"a batch that takes longer than each of its jobs": {
			bare(), bodies("short", "short ok", "short ok"), []string{
				"m1 at 0s, receive 1: done, too late: its visibility timeout of 5s had ended",
				"m2 at 0s, receive 1: done, too late: its visibility timeout of 5s had ended",
				"m3 at 0s, receive 1: done, too late: its visibility timeout of 5s had ended",
				"m1 at 6s, receive 2: done",
				"m2 at 6s, receive 2: done",
				"m3 at 6s, receive 2: done",
			},
		},
		"a delay that was asked for in time may end before the batch": {
			bare(), bodies("retry ok"), []string{
				"m1 at 0s, receive 1: retry (busy), back in 1s: provider is busy",
				"m1 at 1s, receive 2: done",
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := tt.queue
			q.Visibility = 5 * time.Second
			wantStory(t, q.Run(t, tt.messages...), tt.want...)
		})
	}
}

// In a FIFO queue the group goes on with the message that came back.
func TestAVisibilityTimeoutEndsDuringARunOfAFIFOGroup(t *testing.T) {
	t.Parallel()
	q := bare()
	q.Name, q.Visibility, q.BatchSize = "stock.fifo", 5*time.Second, 1
	report := q.Run(t, bodies("slow ok", "ok")...)
	report.RequireRunOrder(t, "m1", "m1", "m2")
}

// A function that never keeps the visibility timeout uses up its receives.
func TestAFunctionThatOutlivesTheVisibilityTimeoutAtEachReceive(t *testing.T) {
	t.Parallel()
	q := bare()
	q.Visibility, q.Options.MaxReceives = 5*time.Second, 3
	report := q.Run(t, bodies("slow")...)
	report.RequireRuns(t, "m1", 3)
	if !report.Job("m1").Redriven {
		t.Errorf("SQS did not move the message:\n%s", report)
	}
}

// The processor learns that a change came too late, and counts it.
func TestAChangeAfterTheVisibilityTimeoutFails(t *testing.T) {
	t.Parallel()
	var unsettled []int
	q := bare()
	q.Visibility = 5 * time.Second
	q.Options.Hooks.OnBatch = func(_ context.Context, r handler.Report) { unsettled = append(unsettled, r.Unsettled) }
	q.Run(t, bodies("slow-retry ok")...)
	if !slices.Equal(unsettled, []int{1, 0}) {
		t.Errorf("visibility timeouts not changed: %v by batch, want 1 and 0", unsettled)
	}
}
