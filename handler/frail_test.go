package handler_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// noting writes what it does with messages between the calls to their queues.
type noting struct{ *queues }

func (n noting) note(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.order = append(n.order, what)
}

func (n noting) Prepare(_ context.Context, m *handler.Message) error {
	n.note("decode " + m.MessageId)
	return nil
}

func (n noting) Handle(_ context.Context, m *handler.Message) error {
	if m.Body == "bad" {
		return fault.Permanent(errors.New("bad"))
	}
	return nil
}

// frail runs a batch on eight places of a queue with a maxReceiveCount of 8.
func frail(t *testing.T, q *queues, change func(*handler.Options), records ...events.SQSMessage) []string {
	t.Helper()
	o := q.options()
	o.Concurrency, o.MaxReceives = 8, 8
	change(o)
	handle(t, handler.NewProcessor(noting{q}, o), records...)
	return q.order
}

func same(*handler.Options) {}

func TestMessagesNearTheirEndAreSafeBeforeTheNextIsDecoded(t *testing.T) {
	t.Parallel()
	q := newQueues()
	got := frail(t, q, same,
		received(6, record("m2", "good")), received(6, record("m1", "bad")), received(6, record("m3", "good")))
	want := []string{
		"decode m1", "send m1", "delete m1", "decode m2", "delete m2", "decode m3", "delete m3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// What stands behind a message at one receive stands before it at the next.
func TestTheOrderOfMessagesNearTheirEndTurnsRound(t *testing.T) {
	t.Parallel()
	for receives, want := range map[int][]string{
		6: {"decode m1", "decode m2", "decode m3"}, 7: {"decode m3", "decode m2", "decode m1"},
	} {
		got := frail(t, newQueues(), same,
			received(receives, record("m2", "x")), received(receives, record("m1", "x")), received(receives, record("m3", "x")))
		got = slices.DeleteFunc(got, func(s string) bool { return s[:6] != "decode" })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("receive %d (-want +got):\n%s", receives, diff)
		}
	}
}

func TestFIFOGroupsNearTheirEndKeepTheirOrder(t *testing.T) {
	t.Parallel()
	got := frail(t, newQueues(), same, received(7, grouped("a", record("a2", "x"))),
		received(7, grouped("b", record("b1", "x"))), received(7, grouped("a", record("a1", "x"))))
	want := []string{"decode b1", "delete b1", "decode a2", "delete a2", "decode a1", "delete a1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestOtherBatchesAreAnsweredOnly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change  func(*handler.Options)
		records []events.SQSMessage
	}{
		"half of the receives": {same, []events.SQSMessage{received(5, record("m1", "x")), received(5, record("m2", "x"))}},
		"a newcomer among them": {same, []events.SQSMessage{
			received(8, record("m1", "x")), received(8, record("m2", "x")), record("m3", "x"),
		}},
		"one alone": {same, []events.SQSMessage{received(8, record("m1", "x"))}},
		"the maximum is not known": {
			func(o *handler.Options) { o.MaxReceives = 0 },
			[]events.SQSMessage{received(8, record("m1", "x")), received(8, record("m2", "x"))},
		},
		"no source": {
			func(o *handler.Options) { o.Queue = nil },
			[]events.SQSMessage{received(8, record("m1", "x")), received(8, record("m2", "x"))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQueues()
			frail(t, q, tt.change, tt.records...)
			if len(q.deleted) > 0 {
				t.Errorf("deleted %v before the answer", q.deleted)
			}
		})
	}
}

// A suspect among them runs at once, and no other payload is decoded before.
func TestASuspectNearItsEndDoesNotWaitForTheOthers(t *testing.T) {
	t.Parallel()
	q := newQueues()
	var mu sync.Mutex
	alone := func(next handler.Func) handler.Func {
		return func(ctx context.Context, m *handler.Message) error {
			if m.MessageId == "m1" {
				if err := m.Alone(ctx); err != nil {
					return err
				}
			}
			mu.Lock()
			defer mu.Unlock()
			return next(ctx, m)
		}
	}
	got := frail(t, q, func(o *handler.Options) { o.Middleware = []handler.Middleware{alone} },
		received(8, record("m1", "x")), received(8, record("m2", "x")))
	want := []string{"decode m1", "delete m1", "decode m2", "delete m2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// Messages that were received unequally often still have one order.
func TestUnequalReceivesHaveOneOrder(t *testing.T) {
	t.Parallel()
	for most, want := range map[int][]string{
		8: {"decode m1", "decode m2", "decode m3"}, 7: {"decode m3", "decode m2", "decode m1"},
	} {
		got := frail(t, newQueues(), same,
			received(6, record("m2", "x")), received(most, record("m1", "x")), received(most-1, record("m3", "x")))
		got = slices.DeleteFunc(got, func(s string) bool { return s[:6] != "decode" })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("receive %d (-want +got):\n%s", most, diff)
		}
	}
}
