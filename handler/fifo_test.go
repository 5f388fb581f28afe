package handler_test

import (
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
)

func TestFIFOGroupStopsAtItsFailure(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		sendErr  map[string]error
		records  []events.SQSMessage
		reported []string
		hidden   map[string]time.Duration
	}{
		{
			"the tail comes back with its head, other groups go on", nil,
			[]events.SQSMessage{
				received(3, grouped("a", record("a1", "reset"))), grouped("b", record("b1", "good")),
				grouped("a", record("a2", "good")), grouped("b", record("b2", "good")), grouped("a", record("a3", "reset")),
			},
			[]string{"a1", "a2", "a3"},
			map[string]time.Duration{"a1": 4 * time.Second, "a2": 4 * time.Second, "a3": 4 * time.Second},
		},
		{
			"a dead head lets the group go on", nil,
			[]events.SQSMessage{grouped("a", record("a1", "permanent")), grouped("a", record("a2", "good"))},
			[]string{}, map[string]time.Duration{},
		},
		{
			"but not before the dead-letter queue has it", map[string]error{"a1": errOdd},
			[]events.SQSMessage{grouped("a", record("a1", "permanent")), grouped("a", record("a2", "good"))},
			[]string{"a1", "a2"}, map[string]time.Duration{"a1": time.Second, "a2": time.Second},
		},
		{
			"a redelivered message keeps its place", nil,
			[]events.SQSMessage{received(2, grouped("a", record("a1", "reset"))), grouped("a", record("a2", "good"))},
			[]string{"a1", "a2"}, map[string]time.Duration{"a1": 2 * time.Second, "a2": 2 * time.Second},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := newQueues()
			q.sendErr = tt.sendErr
			ids := handle(t, newProcessor(byBody(script), q.options()), tt.records...)
			if diff := cmp.Diff(tt.reported, ids); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.hidden, q.hidden); diff != "" {
				t.Errorf("hidden (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGroupsOfAStandardQueueDoNotStop: fair queues are standard queues whose
// messages have a group.
func TestGroupsOfAStandardQueueDoNotStop(t *testing.T) {
	t.Parallel()
	first, second := record("m1", "reset"), record("m2", "good")
	first.Attributes["MessageGroupId"], second.Attributes["MessageGroupId"] = "tenant", "tenant"
	ids := handle(t, newProcessor(byBody(script), newQueues().options()), first, second)
	if diff := cmp.Diff([]string{"m1"}, ids); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
}
