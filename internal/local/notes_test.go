package local

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/stack"
)

func TestNotesTellWhatIsRarelyMeant(t *testing.T) {
	t.Parallel()
	good := stack.SQSEvent{Name: "Jobs", Queue: "JobsQueue", Enabled: true, ReportBatchItemFailures: true}
	other := good
	other.Queue = "PlainQueue"
	const differs = "SQSAFE_MAX_RECEIVES of Fn is 3, and queue JobsQueue has the maxReceiveCount 5; make them the same"
	tests := []struct {
		name     string
		maximum  string
		event    stack.SQSEvent
		override string
		want     []string
	}{
		{"as it should be", "5", good, "", nil},
		{"not told", "", good, "", nil},
		{"a queue without a redrive policy", "5", other, "3", nil},
		{"another maximum, which sqsafe check finds", "3", good, "", nil},
		{"another maximum of the environment file", "5", good, "3", []string{differs}},
		{"the right maximum of the environment file", "3", good, "5", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := stack.Function{
				LogicalID: "Fn", Events: []stack.SQSEvent{tt.event},
				Environment: map[string]string{"SQSAFE_MAX_RECEIVES": tt.maximum},
			}
			s := &stack.Stack{Functions: []stack.Function{f}, Queues: []stack.Queue{
				{LogicalID: "JobsQueue", MaxReceiveCount: 5}, {LogicalID: "PlainQueue"},
			}}
			v := Variables{}
			if tt.override != "" {
				v["Fn"] = map[string]string{"SQSAFE_MAX_RECEIVES": tt.override}
			}
			if diff := cmp.Diff(tt.want, notes(s, v)); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAQueueThatNothingReadsIsNamed(t *testing.T) {
	t.Parallel()
	s := &stack.Stack{
		Queues: []stack.Queue{
			{LogicalID: "Jobs", DeadLetterQueue: "Dead"}, {LogicalID: "Dead"}, {LogicalID: "Results"}, {LogicalID: "Paused"},
		},
		Functions: []stack.Function{{LogicalID: "Fn", Events: []stack.SQSEvent{
			{Queue: "Jobs", Enabled: true}, {Queue: "Paused"},
		}}},
	}
	want := []string{
		"nothing reads queue Results: --until-idle waits while it holds a message",
		"nothing reads queue Paused: --until-idle waits while it holds a message",
	}
	if diff := cmp.Diff(want, unread(s)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestALossHasItsReason(t *testing.T) {
	t.Parallel()
	event := stack.SQSEvent{Name: "Jobs", Queue: "JobsQueue", Enabled: true}
	s := &stack.Stack{
		Functions: []stack.Function{{LogicalID: "Fn", Events: []stack.SQSEvent{event}}},
		Queues:    []stack.Queue{{LogicalID: "JobsQueue", Name: "jobs"}},
	}
	j := newJournal(s, Options{})
	for _, e := range []Event{
		{Kind: KindSent, Queue: "jobs", MessageID: "1"},
		{Kind: KindOutcome, Queue: "jobs", MessageID: "1", Outcome: "retry", Attempt: 1},
		{Kind: KindDeleted, Queue: "jobs", MessageID: "1"},
	} {
		j.write(e)
	}
	got := j.tally.summary(time.Time{}, nil, nil)
	if got.Lost != 1 || !strings.HasPrefix(got.LostBecause, unreported(s.Functions[0], event)) {
		t.Errorf("summary %+v, want one loss and why", got)
	}
}
