package handler_test

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

var errOdd = errors.New("odd")

var script = map[string]func(context.Context, *handler.Message) error{
	"reset":       fails(syscall.ECONNRESET),
	"permanent":   fails(fault.Permanent(errors.New("no such customer"), fault.WithReason("no_customer"))),
	"odd":         fails(errOdd),
	"wait":        fails(fault.RetryAfter(40*time.Second, errOdd)),
	"environment": fails(fault.Retryable(errOdd, fault.WithReason(fault.ReasonEnvironment))),
}

// TestOutcomeOfEachDelivery runs single messages: what came in, and what became
// of it. Without a ledger the receive count stands for the attempts.
func TestOutcomeOfEachDelivery(t *testing.T) {
	t.Parallel()
	type want struct {
		Reported bool
		Hidden   time.Duration
		Outcome  string
		Reason   string
		Dead     bool
	}
	tests := []struct {
		name     string
		body     string
		receives int
		want     want
	}{
		{"success", "good", 1, want{Outcome: "done"}},
		{"first retryable failure waits a second", "reset", 1,
			want{Reported: true, Hidden: 1 * time.Second, Outcome: "retry", Reason: "connection"}},
		{"third retryable failure waits four", "reset", 3,
			want{Reported: true, Hidden: 4 * time.Second, Outcome: "retry", Reason: "connection"}},
		{"the budget ends with the eighth failure", "reset", 8, want{Outcome: "dead", Reason: "exhausted", Dead: true}},
		{"permanent dies at once", "permanent", 1, want{Outcome: "dead", Reason: "no_customer", Dead: true}},
		{"permanent is permanent at any attempt", "permanent", 8, want{Outcome: "dead", Reason: "no_customer", Dead: true}},
		{"unclassified gets a try", "odd", 1,
			want{Reported: true, Hidden: 1 * time.Second, Outcome: "retry", Reason: "unclassified"}},
		{"and dies with the third", "odd", 3, want{Outcome: "dead", Reason: "unclassified", Dead: true}},
		{"a named delay counts when longer", "wait", 1,
			want{Reported: true, Hidden: 44 * time.Second, Outcome: "retry", Reason: "tagged"}},
		{"the surroundings cost no budget", "environment", 20,
			want{Reported: true, Hidden: 945 * time.Second, Outcome: "retry", Reason: "environment"}},
		{"but the last receive ends all", "environment", 30, want{Outcome: "dead", Reason: "max_receives", Dead: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := newQueues()
			o := q.options()
			o.MaxReceives = 30
			ids := handle(t, newProcessor(byBody(script), o), received(tt.receives, record("m1", tt.body)))
			got := want{
				Reported: len(ids) == 1,
				Hidden:   q.hidden["m1"],
				Outcome:  q.logged(t, handler.LogOutcome, "outcome")[0],
				Reason:   q.logged(t, handler.LogOutcome, "reason")[0],
				Dead:     len(q.letters) == 1,
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPoisonDoesNotTouchHealthyJobs(t *testing.T) {
	t.Parallel()
	q := newQueues()
	var records []events.SQSMessage
	for _, id := range []string{"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"} {
		records = append(records, record(id, "good"))
	}
	records = append(records, record("poison", "permanent"))
	if ids := handle(t, newProcessor(byBody(script), q.options()), records...); len(ids) != 0 {
		t.Errorf("reported %v, want none", ids)
	}
	if diff := cmp.Diff([]string{"poison"}, q.dead()); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
	if len(q.hidden) != 0 {
		t.Errorf("visibility changed for %v, want none: a permanent failure never waits", q.hidden)
	}
}

// With a deadline failed messages are hidden at the end, in as few calls as possible.
// Without one a job of the batch may run for hours, so that they are hidden at once.
func TestWhenFailedMessagesAreHidden(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration][]string{
		30 * time.Second: {"run", "hide m1"}, 0: {"hide m1", "run"},
	} {
		inBubble(t, timeout.String(), func(t *testing.T) {
			s := newScene()
			s.timeout = timeout
			h := handler.Func(func(ctx context.Context, m *handler.Message) error {
				err := steps(ctx, m)
				if m.MessageId == "m3" {
					s.queues.mu.Lock()
					defer s.queues.mu.Unlock()
					s.order = append(s.order, "run")
				}
				return err
			})
			ids := s.runIn(t, newProcessor(h, s.options),
				record("m1", "reset"), record("m3", "10s"))
			if diff := cmp.Diff(want, s.order); diff != "" || len(ids) != 1 {
				t.Errorf("reported %v; calls (-want +got):\n%s", ids, diff)
			}
		})
	}
}

// Without a deadline a done message is not to stay in flight for as long as another job of
// its batch runs: of a FIFO queue it keeps its group from being received, and when the
// process dies it comes again.
func TestDoneMessagesAreDeletedBesideALongRun(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration][]string{
		10 * time.Minute: nil, 0: {"delete m1", "delete m2"},
	} {
		inBubble(t, timeout.String(), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.Concurrency = timeout, 4
			var early []string
			h := handler.Func(func(ctx context.Context, m *handler.Message) error {
				err := steps(ctx, m)
				if m.MessageId == "m4" {
					s.queues.mu.Lock()
					defer s.queues.mu.Unlock()
					early = append(early, s.order...)
				}
				return err
			})
			twice := record("m3", "x")
			ids := s.runIn(t, newProcessor(h, s.options), record("m1", "x"), record("m2", "2s"), twice,
				copyOf("another", received(2, record("m3", "reset"))), record("m4", "1m"))
			early = slices.DeleteFunc(early, func(call string) bool { return call == "hide m3" })
			if diff := cmp.Diff(want, early); diff != "" || !cmp.Equal(ids, []string{"m3"}) {
				t.Errorf("reported %v; calls (-want +got):\n%s", ids, diff)
			}
		})
	}
}

func TestTheLastChanceComesFirstAndNewMessagesBeforeRedeliveredOnes(t *testing.T) {
	t.Parallel()
	var ran []string
	h := handler.Func(func(_ context.Context, m *handler.Message) error {
		ran = append(ran, m.MessageId)
		return nil
	})
	o := newQueues().options()
	o.MaxReceives = 9
	handle(t, newProcessor(h, o), received(7, record("old", "x")), record("new1", "x"),
		received(2, record("again", "x")), received(9, record("last", "x")), record("new2", "x"))
	if diff := cmp.Diff([]string{"last", "old", "new1", "new2", "again"}, ran); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestBudgetFollowsTheBackoffAndTheOption(t *testing.T) {
	t.Parallel()
	q := newQueues()
	o := q.options()
	o.Backoff = backoff.Exponential{MaxAttempts: 2}
	o.UnclassifiedAttempts = 1
	handle(t, newProcessor(byBody(script), o),
		received(1, record("m1", "odd")), received(2, record("m2", "reset")))
	if diff := cmp.Diff([]string{"m1", "m2"}, q.dead()); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}

func TestTheZeroOptionsLeaveEverythingToTheQueue(t *testing.T) {
	t.Parallel()
	ids := handle(t, newProcessor(byBody(script), nil),
		record("m1", "permanent"), record("m2", "reset"), record("m3", "good"))
	if diff := cmp.Diff([]string{"m1", "m2"}, ids); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
}

func TestEveryOutcomeHasAName(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for o := handler.OutcomeNone; o <= handler.OutcomeDropped; o++ {
		if seen[o.String()] || o.String() == "invalid" {
			t.Errorf("outcome %d has the name %q", o, o)
		}
		seen[o.String()] = true
	}
	if got := (handler.OutcomeDropped + 1).String(); got != "invalid" {
		t.Errorf("an outcome outside the set has the name %q", got)
	}
}
