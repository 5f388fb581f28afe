package local

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
	"github.com/sqsafe/sqsafe/internal/runtimeapi"
	"github.com/sqsafe/sqsafe/internal/stack"
)

func newTestJournal() (*journal, *[]Event) {
	events := &[]Event{}
	j := &journal{tally: newTally(), deadLetters: map[string][]string{"dead": {"jobs"}}}
	j.reorder.emit = func(e Event) {
		e.Time = time.Time{}
		*events = append(*events, e)
	}
	return j, events
}

func TestJournalReadsTheQueues(t *testing.T) {
	t.Parallel()
	record := `{"version":1,"reason":"declined","class":"permanent","rule":"tag.permanent","attempts":0,` +
		`"messageId":"m1","sourceQueueArn":"arn:aws:sqs:us-east-1:000000000000:jobs","key":"k",` +
		`"history":[{"n":1}],"dropped":1}`
	two := 2.0
	j, events := newTestJournal()
	j.queue(sqs.Event{Kind: sqs.Sent, Queue: "jobs", MessageID: "m1", Timeout: 2 * time.Second})
	j.queue(sqs.Event{Kind: sqs.Received, Queue: "jobs", MessageID: "m1", ReceiveCount: 1})
	j.queue(sqs.Event{
		Kind: sqs.VisibilityChanged, Queue: "jobs", MessageID: "m1", ReceiveCount: 1, Timeout: 2 * time.Second,
	})
	j.queue(sqs.Event{Kind: sqs.Sent, Queue: "dead", MessageID: "d1",
		MessageAttributes: map[string]sqs.Attribute{"sqsafe": {DataType: "String", StringValue: &record}}})
	j.queue(sqs.Event{Kind: sqs.Sent, Queue: "dead", MessageID: "by-hand"})
	j.queue(sqs.Event{Kind: sqs.Deleted, Queue: "jobs", MessageID: "m1"})
	j.queue(sqs.Event{Kind: sqs.Redriven, Queue: "jobs", To: "dead", MessageID: "m2"})
	j.reorder.flush()
	want := []Event{
		{Kind: KindSent, Queue: "jobs", MessageID: "m1", DelaySeconds: &two},
		{Kind: KindVisibility, Queue: "jobs", MessageID: "m1", ReceiveCount: 1, DelaySeconds: &two},
		{Kind: KindDead, Queue: "jobs", MessageID: "m1", Class: "permanent", Reason: "declined", Rule: "tag.permanent",
			Attempt: 2, Key: "k", DeadLetterQueue: "dead", DeadLetterID: "d1"},
		{Kind: KindSent, Queue: "dead", MessageID: "by-hand"},
		{Kind: KindDeleted, Queue: "jobs", MessageID: "m1"},
		{Kind: KindDead, Queue: "jobs", MessageID: "m2", Reason: ReasonRedrive, DeadLetterQueue: "dead", DeadLetterID: "m2"},
	}
	if diff := cmp.Diff(want, *events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if s := j.tally.summary(time.Time{}, nil, nil); s.Jobs != 1 || s.Dead["declined"] != 1 || s.Dead[ReasonRedrive] != 1 {
		t.Errorf("summary %+v: what was sent to the dead-letter queue by hand is no job", s)
	}
}

// TestALetterWithoutARecordIsNotLost takes the function's word for it, since the
// letter itself had no room to tell.
func TestALetterWithoutARecordIsNotLost(t *testing.T) {
	t.Parallel()
	j, events := newTestJournal()
	j.queue(sqs.Event{Kind: sqs.Sent, Queue: "jobs", MessageID: "m1"})
	j.queue(sqs.Event{Kind: sqs.Sent, Queue: "dead", MessageID: "d1"})
	j.queue(sqs.Event{Kind: sqs.Deleted, Queue: "jobs", MessageID: "m1"})
	j.report("Fn",
		`{"message":"outcome","messageId":"m1","queue":"jobs","outcome":"dead","reason":"declined","attempt":1}`)
	j.report("Fn", `{"message":"dead-lettered","messageId":"m1","queue":"jobs","reason":"declined","deadLetterId":"d1"}`)
	j.reorder.flush()
	s := j.tally.summary(time.Time{}, nil, nil)
	if s.Dead["declined"] != 1 || s.Lost != 0 || s.Left != 0 {
		t.Errorf("summary %+v, want one dead letter", s)
	}
	last := (*events)[len(*events)-1]
	if last.Kind != KindDead || last.DeadLetterID != "d1" || last.DeadLetterQueue != "dead" {
		t.Errorf("last event %+v, want that of the dead letter", last)
	}
}

func TestAFunctionThatNeverStartsIsGivenUp(t *testing.T) {
	t.Parallel()
	failed := func(starting bool) runtimeapi.Event {
		return runtimeapi.Event{Kind: runtimeapi.Failed, Err: &runtimeapi.FunctionError{
			Type: runtimeapi.TypeExit, Starting: starting,
			Message: "RequestId: r1 Error: Runtime exited with error: exit status 1",
		}}
	}
	for name, tt := range map[string]struct {
		events []runtimeapi.Event
		want   bool
	}{
		"at the first start":    {[]runtimeapi.Event{failed(true), failed(true)}, true},
		"after it had run once": {[]runtimeapi.Event{{Kind: runtimeapi.Invoked}, failed(true)}, false},
		"in an invocation":      {[]runtimeapi.Event{failed(false)}, false},
		"killed from outside": {[]runtimeapi.Event{{
			Kind: runtimeapi.Failed, Err: &runtimeapi.FunctionError{Starting: true, Signal: "killed"},
		}}, false},
	} {
		j, _ := newTestJournal()
		j.broken = make(chan error, 1)
		for _, e := range tt.events {
			j.process("Fn", e)
		}
		if got := len(j.broken) == 1; got != tt.want {
			t.Errorf("%s: given up %v, want %v", name, got, tt.want)
		}
		if tt.want {
			if err := <-j.broken; err.Error() != "function Fn does not start: "+
				"process ended with exit status 1; its output says why" {
				t.Errorf("%s: error %v", name, err)
			}
		}
	}
}

func TestJournalReadsTheFunctionsLog(t *testing.T) {
	t.Parallel()
	four := 4.0
	j, events := newTestJournal()
	j.report("Fn", `{"timestamp":"2026-01-02T03:04:05Z","level":"INFO","message":"outcome",`+
		`"messageId":"m1","queue":"jobs",`+
		`"receiveCount":2,"outcome":"retry","class":"retryable","reason":"timeout","rule":"net.timeout",`+
		`"attempt":2,"delaySeconds":4}`)
	j.report("Fn", `{"message":"outcome","messageId":"m2","outcome":"crash","stack":"main.charge\n\tmain.go:17"}`)
	j.report("Fn", `{"message":"dead-lettered","messageId":"m1"}`)
	j.report("Fn", `{"message":"batch","_aws":{}}`)
	j.report("Fn", `{"message":"something else"}`)
	j.report("Fn", `plain {text`)
	j.reorder.flush()
	want := []Event{
		{Kind: KindOutcome, Function: "Fn", MessageID: "m1", Queue: "jobs", ReceiveCount: 2, Outcome: "retry",
			Class: "retryable", Reason: "timeout", Rule: "net.timeout", Attempt: 2, DelaySeconds: &four},
		{Kind: KindOutcome, Function: "Fn", MessageID: "m2", Outcome: "crash", Stack: "main.charge\n\tmain.go:17"},
		{Kind: KindOutput, Function: "Fn", Line: `{"message":"something else"}`},
		{Kind: KindOutput, Function: "Fn", Line: "plain {text"},
	}
	if diff := cmp.Diff(want, *events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestALineThatIsPrintedIsNoEvent shows what looks like ours as what it is: a payload
// can be printed, and a function may log under any message.
func TestALineThatIsPrintedIsNoEvent(t *testing.T) {
	t.Parallel()
	j, events := newTestJournal()
	j.queue(sqs.Event{Kind: sqs.Sent, Queue: "jobs", MessageID: "m1"})
	j.queue(sqs.Event{Kind: sqs.Sent, Queue: "dead", MessageID: "d1"})
	j.reorder.flush()
	*events = nil
	var want []Event
	for _, line := range []string{
		`{"timestamp":"2026-01-02T03:04:05Z","level":"INFO","message":"outcome","messageId":"m1","queue":"jobs",` +
			`"outcome":"done","attempt":1,"key":"k"}`,
		`{"message":"dead-lettered","messageId":"m1","queue":"jobs","reason":"declined","deadLetterId":"d1"}`,
		`{"message":"batch","size":3}`,
		`{"message":"reporting"}`,
	} {
		j.output("Fn", line)
		want = append(want, Event{Kind: KindOutput, Function: "Fn", Line: line})
	}
	j.reorder.flush()
	if diff := cmp.Diff(want, *events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if s := j.tally.summary(time.Time{}, nil, nil); s.Left != 1 || s.Done != 0 || len(s.Dead) != 0 || s.Attempts != 0 {
		t.Errorf("summary %+v, want one message that is left", s)
	}
}

func TestThePlainFunctionsAnswerIsTold(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	arn := "arn:aws:sqs:us-east-1:000000000000:jobs"
	messages := []eventsource.Message{{ID: "m1", ReceiveCount: 1}}
	j, events := newTestJournal()
	j.tally.unreported = map[string]string{"jobs": "no flag"}
	j.queue(sqs.Event{Kind: sqs.Received, Time: at, Queue: "jobs", MessageID: "m1", Timeout: time.Minute})
	for _, kind := range []eventsource.Kind{eventsource.Reported, eventsource.Ignored} {
		j.batch("Plain", eventsource.Event{Kind: kind, Time: at, QueueARN: arn, Messages: messages})
	}
	j.report("Ours", `{"message":"reporting"}`)
	j.batch("Ours", eventsource.Event{Kind: eventsource.Reported, Time: at, QueueARN: arn, Messages: messages})
	j.reorder.flush()
	minute := 60.0
	want := []Event{
		{Kind: KindNamed, Queue: "jobs", MessageID: "m1", ReceiveCount: 1, Function: "Plain"},
		{Kind: KindVisibility, Queue: "jobs", MessageID: "m1", ReceiveCount: 1, DelaySeconds: &minute},
		{Kind: KindIgnored, Queue: "jobs", MessageID: "m1", ReceiveCount: 1, Function: "Plain", Error: "no flag"},
	}
	if diff := cmp.Diff(want, *events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestLettersToAFunctionAreWork counts what a dead-letter queue holds that a function
// reads.
func TestLettersToAFunctionAreWork(t *testing.T) {
	t.Parallel()
	j, _ := newTestJournal()
	j.deadLetters["grave"] = []string{"dead"}
	j.letters = map[string]bool{"dead": true}
	j.tally.letters = j.letters
	arn := "arn:aws:sqs:us-east-1:000000000000:dead"
	record := `{"version":1,"reason":"declined","messageId":"m1",` +
		`"sourceQueueArn":"arn:aws:sqs:us-east-1:000000000000:jobs"}`
	letter := map[string]sqs.Attribute{"sqsafe": {DataType: "String", StringValue: &record}}
	for _, id := range []string{"m1", "m2", "m3", "m4"} {
		j.queue(sqs.Event{Kind: sqs.Sent, Queue: "jobs", MessageID: id})
	}
	j.queue(sqs.Event{Kind: sqs.Sent, Queue: "dead", MessageID: "d1", MessageAttributes: letter})
	j.queue(sqs.Event{Kind: sqs.Deleted, Queue: "jobs", MessageID: "m1"})
	for _, id := range []string{"m2", "m3", "m4"} {
		j.queue(sqs.Event{Kind: sqs.Redriven, Queue: "jobs", To: "dead", MessageID: id})
	}
	for _, id := range []string{"d1", "m2"} {
		j.queue(sqs.Event{Kind: sqs.Received, Queue: "dead", MessageID: id, ReceiveCount: 1})
		j.batch("Undertaker", eventsource.Event{
			Kind: eventsource.Invoked, QueueARN: arn, Messages: []eventsource.Message{{ID: id, ReceiveCount: 1}},
		})
		j.queue(sqs.Event{Kind: sqs.Deleted, Queue: "dead", MessageID: id})
	}
	j.queue(sqs.Event{Kind: sqs.Redriven, Queue: "dead", To: "grave", MessageID: "m4"})
	want := Summary{
		Kind: KindSummary, Jobs: 4, Dead: map[string]int{"declined": 1, ReasonRedrive: 4},
		Letters: 4, LettersDone: 2, Left: 1,
	}
	if diff := cmp.Diff(want, j.tally.summary(time.Time{}, nil, nil)); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestADeadLetterQueueThatAFunctionReads(t *testing.T) {
	t.Parallel()
	event := func(queue string, enabled bool) stack.Function {
		return stack.Function{Events: []stack.SQSEvent{{Queue: queue, Enabled: enabled}}}
	}
	j := newJournal(&stack.Stack{
		Queues: []stack.Queue{
			{LogicalID: "Jobs", Name: "jobs", DeadLetterQueue: "Read"},
			{LogicalID: "Read", Name: "read", DeadLetterQueue: "Paused"},
			{LogicalID: "Paused", Name: "paused", DeadLetterQueue: "Grave"}, {LogicalID: "Grave", Name: "grave"},
		},
		Functions: []stack.Function{event("Jobs", true), event("Read", true), event("Paused", false)},
	}, Options{})
	for queue, want := range map[string]bool{"jobs": false, "read": false, "paused": true, "grave": true} {
		if got := j.resting(queue); got != want {
			t.Errorf("letters rest in %s: %v, want %v", queue, got, want)
		}
	}
}

func TestCausesAreInPlainWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ kind, message, want string }{
		{runtimeapi.TypeExit, "RequestId: r1 Error: Runtime exited with error: exit status 3",
			"process ended with exit status 3"},
		{runtimeapi.TypeExit, "RequestId: r1 Error: Runtime exited with error: signal: killed",
			"process ended by signal: killed"},
		{runtimeapi.TypeExit, "RequestId: r1 Error: Runtime exited without providing a reason",
			"process ended without providing a reason"},
		{runtimeapi.TypeTimeout, "RequestId: r1 Error: Task timed out after 2.00 seconds",
			"Task timed out after 2.00 seconds"},
		{"errorString", "no such Error: Runtime exited", "no such Error: Runtime exited"},
	} {
		if got := cause(&runtimeapi.FunctionError{Type: tt.kind, Message: tt.message}); got != tt.want {
			t.Errorf("%s: %q becomes %q, want %q", tt.kind, tt.message, got, tt.want)
		}
	}
}

func TestJournalReadsTheBatches(t *testing.T) {
	t.Parallel()
	messages := []eventsource.Message{{ID: "m1", ReceiveCount: 1}, {ID: "m2", ReceiveCount: 3}}
	arn := "arn:aws:sqs:us-east-1:000000000000:jobs"
	exit := &runtimeapi.FunctionError{Type: runtimeapi.TypeExit, Message: "signal: killed", RequestID: "r1", Exited: true}
	returned := &runtimeapi.FunctionError{Type: "errorString", Message: "no"}
	j, events := newTestJournal()
	j.batch("Fn", eventsource.Event{Kind: eventsource.Invoked, QueueARN: arn, Messages: messages})
	j.batch("Fn", eventsource.Event{Kind: eventsource.Failed, QueueARN: arn, Messages: messages, Err: exit})
	j.batch("Fn", eventsource.Event{Kind: eventsource.Failed, QueueARN: arn, Messages: messages[:1], Err: returned})
	j.batch("Fn", eventsource.Event{
		Kind: eventsource.Malformed, QueueARN: arn, Messages: messages[:1], Reason: "not JSON",
	})
	j.batch("Fn", eventsource.Event{Kind: eventsource.Received, QueueARN: arn, Messages: messages})
	j.reorder.flush()
	none := 0
	want := []Event{
		{Kind: KindInvoked, Function: "Fn", Queue: "jobs", MessageID: "m1", ReceiveCount: 1},
		{Kind: KindInvoked, Function: "Fn", Queue: "jobs", MessageID: "m2", ReceiveCount: 3},
		{Kind: KindCrash, Function: "Fn", Queue: "jobs", MessageIDs: []string{"m1", "m2"}, Left: &none,
			RequestID: "r1", Reason: runtimeapi.TypeExit, Error: "signal: killed"},
		{Kind: KindFailed, Function: "Fn", Queue: "jobs", MessageIDs: []string{"m1"}, Left: &none,
			Reason: "errorString", Error: "no"},
		{Kind: KindFailed, Function: "Fn", Queue: "jobs", MessageIDs: []string{"m1"}, Left: &none, Error: "not JSON"},
	}
	if diff := cmp.Diff(want, *events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestACrashTellsWhatItLeaves counts what is still in the queue, and says when
// that comes back of which nobody has said it.
func TestACrashTellsWhatItLeaves(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	batch := []eventsource.Message{{ID: "done", ReceiveCount: 1}, {ID: "failed", ReceiveCount: 1},
		{ID: "dead", ReceiveCount: 4}, {ID: "panicked", ReceiveCount: 2}}
	arn := "arn:aws:sqs:us-east-1:000000000000:jobs"
	exit := &runtimeapi.FunctionError{Type: runtimeapi.TypeExit, Message: "exit status 2", Exited: true}
	j, events := newTestJournal()
	for _, m := range batch {
		j.queue(sqs.Event{Kind: sqs.Sent, Time: at, Queue: "jobs", MessageID: m.ID})
		j.queue(sqs.Event{Kind: sqs.Received, Time: at, Queue: "jobs", MessageID: m.ID, Timeout: 3 * time.Minute})
	}
	j.queue(sqs.Event{Kind: sqs.Deleted, Time: at, Queue: "jobs", MessageID: "done"})
	j.queue(sqs.Event{
		Kind: sqs.VisibilityChanged, Time: at, Queue: "jobs", MessageID: "failed", Timeout: 2 * time.Second,
	})
	j.queue(sqs.Event{Kind: sqs.Redriven, Time: at, Queue: "jobs", To: "dead", MessageID: "dead"})
	j.reorder.flush()
	*events = nil
	j.batch("Fn", eventsource.Event{
		Kind: eventsource.Failed, Time: at.Add(time.Second), QueueARN: arn, Messages: batch, Err: exit,
	})
	j.batch("Fn", eventsource.Event{ // too late: the message is visible
		Kind: eventsource.Failed, Time: at.Add(time.Hour), QueueARN: arn, Messages: batch[3:], Err: exit,
	})
	j.reorder.flush()
	one, two, wait := 1, 2, 179.0
	want := []Event{
		{Kind: KindCrash, Function: "Fn", Queue: "jobs", MessageIDs: []string{"done", "failed", "dead", "panicked"},
			Left: &two, Reason: runtimeapi.TypeExit, Error: "exit status 2"},
		{Kind: KindVisibility, Queue: "jobs", MessageID: "panicked", ReceiveCount: 2, DelaySeconds: &wait},
		{Kind: KindCrash, Function: "Fn", Queue: "jobs", MessageIDs: []string{"panicked"}, Left: &one,
			Reason: runtimeapi.TypeExit, Error: "exit status 2"},
	}
	if diff := cmp.Diff(want, *events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestJournalOfAnotherEngine(t *testing.T) {
	t.Parallel()
	messages := []eventsource.Message{{ID: "m1", ReceiveCount: 1}, {ID: "m2", ReceiveCount: 3}}
	arn := "arn:aws:sqs:us-east-1:000000000000:jobs"
	j, events := newTestJournal()
	j.foreign = true
	j.report("Fn", `{"timestamp":"2026-01-02T03:04:05Z","message":"dead-lettered","messageId":"m1","queue":"jobs",`+
		`"receiveCount":1,"reason":"declined","deadLetterId":"d1","key":"k"}`)
	j.batch("Fn", eventsource.Event{Kind: eventsource.Deleted, QueueARN: arn, Messages: messages})
	j.batch("Fn", eventsource.Event{Kind: eventsource.Filtered, QueueARN: arn, Messages: messages[:1], Reason: "no match"})
	j.batch("Fn", eventsource.Event{Kind: eventsource.Malformed, QueueARN: arn, Messages: messages, Reason: "not JSON"})
	j.reorder.flush()
	want := []Event{
		{Kind: KindDead, Queue: "jobs", MessageID: "m1", ReceiveCount: 1, Reason: "declined", Key: "k",
			DeadLetterQueue: "dead", DeadLetterID: "d1"},
		{Kind: KindDeleted, Queue: "jobs", MessageID: "m1", ReceiveCount: 1},
		{Kind: KindDeleted, Queue: "jobs", MessageID: "m2", ReceiveCount: 3},
		{Kind: KindFiltered, Queue: "jobs", MessageID: "m1", ReceiveCount: 1, Function: "Fn", Reason: "no match"},
		{Kind: KindFailed, Queue: "jobs", MessageIDs: []string{"m1", "m2"}, Function: "Fn", Error: "not JSON"},
	}
	if diff := cmp.Diff(want, *events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
