package local

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestTallyCountsEveryMessage(t *testing.T) {
	t.Parallel()
	sent := func(id string) Event { return Event{Kind: KindSent, MessageID: id} }
	outcome := func(id, what string, attempt int) Event {
		return Event{Kind: KindOutcome, MessageID: id, Outcome: what, Attempt: attempt, Key: "k-" + id}
	}
	deleted := func(id string) Event { return Event{Kind: KindDeleted, MessageID: id} }
	dead := func(id, reason string) Event { return Event{Kind: KindDead, MessageID: id, Reason: reason} }
	crash := func(id string) Event { return Event{Kind: KindCrash, MessageIDs: []string{id}} }
	tests := []struct {
		name   string
		events []Event
		want   Summary
	}{
		{"done", []Event{sent("1"), outcome("1", "retry", 1), outcome("1", "done", 2), deleted("1")},
			Summary{Jobs: 1, Done: 1, Attempts: 2}},
		{"done, and delivered again after a crash", []Event{
			sent("1"), outcome("1", "done", 1), crash("1"), outcome("1", "duplicate", 0), deleted("1"),
		}, Summary{Jobs: 1, Done: 1, Attempts: 1, Crashes: 1}},
		{"done, but killed before the log could tell", []Event{
			sent("1"), crash("1"), outcome("1", "duplicate", 0), deleted("1"),
		}, Summary{Jobs: 1, Done: 1, Crashes: 1}},
		{"a copy of a job that was done, killed in between", []Event{
			sent("1"), sent("2"), outcome("1", "done", 1), deleted("1"), crash("2"),
			{Kind: KindOutcome, MessageID: "2", Outcome: "duplicate", Key: "k-1"}, deleted("2"),
		}, Summary{Jobs: 2, Done: 1, Duplicates: 1, Attempts: 1, Crashes: 1}},
		{"the ledger is down", []Event{
			sent("1"), {Kind: KindOutcome, MessageID: "1", Outcome: "retry", Reason: "idempotency_store"},
			{Kind: KindOutcome, MessageID: "1", Outcome: "done", Reason: "unprotected", Attempt: 1}, deleted("1"),
		}, Summary{Jobs: 1, Done: 1, Attempts: 1, StoreDown: 1, Unprotected: 1}},
		{"the log line comes after the delete", []Event{sent("1"), deleted("1"), outcome("1", "duplicate", 0)},
			Summary{Jobs: 1, Duplicates: 1}},
		{"a function that does not tell", []Event{sent("1"), deleted("1")}, Summary{Jobs: 1, Done: 1}},
		{"filtered", []Event{sent("1"), {Kind: KindFiltered, MessageID: "1"}, deleted("1")}, Summary{Jobs: 1, Filtered: 1}},
		{"dead", []Event{sent("1"), outcome("1", "dead", 1), dead("1", "declined"), deleted("1")},
			Summary{Jobs: 1, Attempts: 1, Dead: map[string]int{"declined": 1}}},
		{"redriven by SQS", []Event{sent("1"), dead("1", ReasonRedrive)},
			Summary{Jobs: 1, Dead: map[string]int{ReasonRedrive: 1}}},
		{"dead without a dead letter is lost", []Event{sent("1"), outcome("1", "dead", 1), deleted("1")},
			Summary{Jobs: 1, Attempts: 1, Lost: 1}},
		{"deleted while it is to be retried is lost", []Event{sent("1"), outcome("1", "retry", 1), deleted("1")},
			Summary{Jobs: 1, Attempts: 1, Lost: 1}},
		{"still there", []Event{sent("1"), sent("2"), outcome("2", "busy", 0), {Kind: KindCrash}},
			Summary{Jobs: 2, Left: 2, Crashes: 1}},
		{"a dead letter of nobody", []Event{dead("x", "declined")}, Summary{Dead: map[string]int{"declined": 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tallied := newTally()
			for _, e := range tt.events {
				tallied.record(e)
			}
			got := tallied.summary(time.Time{}, nil, nil)
			tt.want.Kind = KindSummary
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatAFunctionNamesIsNotDone(t *testing.T) {
	t.Parallel()
	invoked := func(n int) Event { return Event{Kind: KindInvoked, MessageID: "1", ReceiveCount: n} }
	named, ignored := Event{Kind: KindNamed, MessageID: "1"}, Event{Kind: KindIgnored, MessageID: "1"}
	deleted := Event{Kind: KindDeleted, MessageID: "1"}
	for name, tt := range map[string]struct {
		events []Event
		want   Summary
	}{
		"named, and it waits":     {[]Event{invoked(1), named}, Summary{Left: 1}},
		"named, and done later":   {[]Event{invoked(1), named, invoked(2), deleted}, Summary{Done: 1}},
		"named, and it is gone":   {[]Event{invoked(1), ignored, deleted}, Summary{Lost: 1}},
		"named, and redriven":     {[]Event{invoked(1), named, {Kind: KindDead, MessageID: "1", Reason: ReasonRedrive}}, Summary{Dead: map[string]int{ReasonRedrive: 1}}}, //nolint:lll // a row
		"it reports otherwise":    {[]Event{invoked(1), ignored, {Kind: KindOutcome, MessageID: "1", Outcome: "done"}, deleted}, Summary{Done: 1}},                        //nolint:lll // a row
		"acknowledged, not named": {[]Event{invoked(1), deleted}, Summary{Done: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tallied := newTally()
			tallied.record(Event{Kind: KindSent, MessageID: "1"})
			for _, e := range tt.events {
				tallied.record(e)
			}
			tt.want.Kind, tt.want.Jobs = KindSummary, 1
			if diff := cmp.Diff(tt.want, tallied.summary(time.Time{}, nil, nil), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMessagesSharedWithAnotherConsumer are first run by the stack's function, which
// reports a retry. A worker gets them next and acknowledges them.
func TestMessagesSharedWithAnotherConsumer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		foreign bool // another engine tells nothing of receives and deletions
		ledger  verdict
		want    Summary
	}{
		"the ledger says done":         {false, verdict{done: true}, Summary{Done: 1}},
		"the ledger says dead":         {false, verdict{dead: "declined"}, Summary{Dead: map[string]int{"declined": 1}}},
		"the ledger knows nothing":     {false, verdict{}, Summary{Done: 1}},
		"another engine, done":         {true, verdict{done: true}, Summary{Done: 1}},
		"another engine, dead":         {true, verdict{dead: "declined"}, Summary{Dead: map[string]int{"declined": 1}}},
		"another engine, not recorded": {true, verdict{}, Summary{Lost: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tallied := newTally()
			tallied.foreign = tt.foreign
			tallied.record(Event{Kind: KindSent, MessageID: "1", Queue: "jobs"})
			if !tt.foreign {
				tallied.received("1", 1)
			}
			tallied.record(Event{Kind: KindInvoked, MessageID: "1", Queue: "jobs", ReceiveCount: 1})
			tallied.record(Event{Kind: KindOutcome, MessageID: "1", Outcome: "retry", Attempt: 1, Key: "k"})
			if !tt.foreign {
				tallied.received("1", 2)
				tallied.record(Event{Kind: KindDeleted, MessageID: "1", Queue: "jobs"})
			}
			empty := map[string]bool{"jobs": true}
			if diff := cmp.Diff(map[string][]string{"jobs": {"k"}}, tallied.unsettled(empty)); diff != "" {
				t.Errorf("the ledger is asked (-want +got):\n%s", diff)
			}
			got := tallied.summary(time.Time{}, empty, map[place]verdict{{"jobs", "k"}: tt.ledger})
			tt.want.Kind, tt.want.Jobs, tt.want.Attempts = KindSummary, 1, 1
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTallyOfAnotherEndpoint(t *testing.T) {
	t.Parallel()
	invoked := func(id, queue string) Event { return Event{Kind: KindInvoked, MessageID: id, Queue: queue} }
	tallied := newTally()
	tallied.foreign, tallied.redrive = true, map[string]bool{"jobs": true}
	for _, e := range []Event{
		{Kind: KindSent, MessageID: "1", Queue: "jobs"}, invoked("1", "jobs"), {Kind: KindDeleted, MessageID: "1"},
		invoked("from elsewhere", "jobs"), {Kind: KindDeleted, MessageID: "from elsewhere"},
		invoked("redriven", "jobs"), invoked("redriven", "jobs"),
		invoked("gone", "plain"),
		invoked("waits", "full"),
	} {
		tallied.record(e)
	}
	got := tallied.summary(time.Time{}, map[string]bool{"jobs": true, "plain": true, "full": false}, nil)
	want := Summary{
		Kind: KindSummary, Jobs: 5, Done: 2, Dead: map[string]int{ReasonRedrive: 1}, Lost: 1, Left: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestTallyForgetsFinishedMessages(t *testing.T) {
	t.Parallel()
	tallied := newTally()
	for range 1000 {
		tallied.record(Event{Kind: KindSent, MessageID: "1"})
		tallied.record(Event{Kind: KindDeleted, MessageID: "1"})
		tallied.record(Event{Kind: KindOutcome, MessageID: "1", Outcome: "done", Attempt: 1, Key: "k"})
	}
	if len(tallied.messages) != 0 {
		t.Errorf("%d messages are kept", len(tallied.messages))
	}
	got := tallied.summary(time.Time{}, nil, nil)
	want := Summary{Kind: KindSummary, Jobs: 1000, Done: 1000, Attempts: 1000, Dead: map[string]int{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}
