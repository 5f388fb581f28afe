package handler_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

func TestHistoryKeepsBothEnds(t *testing.T) {
	t.Parallel()
	var h handler.History
	for n := 1; n <= 40; n++ {
		before := h
		h = h.Append(handler.Attempt{Number: n})
		if h.Len() != n || before.Len() != n-1 {
			t.Fatalf("after %d runs: length %d, the one before %d", n, h.Len(), before.Len())
		}
	}
	var numbers []int
	for _, a := range h.Attempts {
		numbers = append(numbers, a.Number)
	}
	want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 32, 33, 34, 35, 36, 37, 38, 39, 40}
	if diff := cmp.Diff(want, numbers); diff != "" || h.Dropped != 22 {
		t.Errorf("dropped %d; numbers (-want +got):\n%s", h.Dropped, diff)
	}
}

func TestAppendDoesNotShareItsBacking(t *testing.T) {
	t.Parallel()
	var h handler.History
	for n := 1; n <= 30; n++ {
		h = h.Append(handler.Attempt{Number: n})
	}
	left, right := h.Append(handler.Attempt{Number: 100}), h.Append(handler.Attempt{Number: 200})
	if l, r := left.Attempts[17].Number, right.Attempts[17].Number; l != 100 || r != 200 {
		t.Errorf("last numbers %d and %d, want 100 and 200", l, r)
	}
}

func TestMessageReadsItsAttributes(t *testing.T) {
	t.Parallel()
	m := &handler.Message{SQSMessage: grouped("g", received(4, record("m1", "x")))}
	m.Attributes["SentTimestamp"] = "1700000000123"
	if m.ReceiveCount() != 4 || m.GroupID() != "g" || m.SentAt().UnixMilli() != 1700000000123 || !m.FIFO() {
		t.Errorf("got %d %q %v %v", m.ReceiveCount(), m.GroupID(), m.SentAt(), m.FIFO())
	}
	if m.QueueName() != "jobs.fifo" {
		t.Errorf("queue %q", m.QueueName())
	}
	empty := &handler.Message{}
	if empty.ReceiveCount() != 1 || !empty.SentAt().IsZero() || empty.FIFO() || empty.QueueName() != "" {
		t.Errorf("an empty message gives %d %v %v %q", empty.ReceiveCount(), empty.SentAt(), empty.FIFO(), empty.QueueName())
	}
}
