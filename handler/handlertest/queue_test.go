package handlertest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
)

func TestRunWithoutALedger(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	type setting = func(q *handlertest.Queue)
	tests := []struct {
		name     string
		set      setting
		messages []handlertest.Message
		want     []string
	}{
		{
			"retries come back after their delays", nil, bodies("retry retry ok"), []string{
				"m1 at 0s, receive 1: retry (busy), back in 1s: provider is busy",
				"m1 at 1s, receive 2: retry (busy), back in 2s: provider is busy",
				"m1 at 3s, receive 3: done",
			},
		},
		{
			"a permanent failure is a dead letter at once", nil, bodies("bad", "ok"), []string{
				"m1 at 0s, receive 1: dead (no_user): no such user",
				"m2 at 0s, receive 1: done",
			},
		},
		{
			"nobody changes the visibility timeout",
			func(q *handlertest.Queue) { q.Options.Queue = &handlertest.FakeQueue{FailChange: refuse} },
			bodies("retry ok"), []string{
				"m1 at 0s, receive 1: retry (busy), back in 3m0s: provider is busy",
				"m1 at 3m0s, receive 2: done",
			},
		},
		{
			"a visibility timeout of its own",
			func(q *handlertest.Queue) {
				q.Options.Queue, q.Visibility = &handlertest.FakeQueue{FailChange: refuse}, time.Minute
			},
			bodies("retry ok"), []string{
				"m1 at 0s, receive 1: retry (busy), back in 1m0s: provider is busy",
				"m1 at 1m0s, receive 2: done",
			},
		},
		{
			"receives end in the dead-letter queue, with the record",
			func(q *handlertest.Queue) { q.Options.MaxReceives = 2 },
			bodies("retry"), []string{
				"m1 at 0s, receive 1: retry (busy), back in 1s: provider is busy",
				"m1 at 1s, receive 2: dead (max_receives): provider is busy",
			},
		},
		{
			"receives that crashes use up end there without one",
			func(q *handlertest.Queue) { q.Options.MaxReceives = 2 },
			bodies("kill"), []string{
				"m1 at 0s, receive 1: killed",
				"m1 at 3m0s, receive 2: killed",
				"m1 was moved to the dead-letter queue by SQS, without a record",
			},
		},
		{
			"a message whose dead letter is refused expires",
			func(q *handlertest.Queue) {
				q.Retention = 100 * time.Second
				q.Options.Queue = &handlertest.FakeQueue{FailChange: refuse}
				q.Options.DeadLetter = &handlertest.DeadLetterQueue{
					Fail: func(handler.Letter) error { return errors.New("access denied") },
				}
			},
			bodies("bad"), []string{
				"m1 at 0s, receive 1: dead (no_user), back in 3m0s: no such user",
				"m1 was lost at the end of its retention",
			},
		},
		{
			"batches have ten messages, and are handled one after the other",
			func(q *handlertest.Queue) { q.BatchSize = 2 },
			bodies("slow", "ok", "ok"), []string{
				"m1 at 0s, receive 1: done",
				"m2 at 0s, receive 1: done",
				"m3 at 10s, receive 1: done",
			},
		},
		{
			"messages are sent later, some of them long ago", nil, []handlertest.Message{
				{ID: "late", After: day},
				{ID: "early", After: time.Second, Receives: 5, Body: "retry"},
			}, []string{
				"early at 1s, receive 5: retry (busy), back in 16s: provider is busy",
				"early at 17s, receive 6: retry (busy), back in 32s: provider is busy",
				"early at 49s, receive 7: retry (busy), back in 1m4s: provider is busy",
				"early at 1m53s, receive 8: dead (exhausted): provider is busy",
				"late at 24h0m0s, receive 1: done",
			},
		},
		{
			"time runs out",
			func(q *handlertest.Queue) { q.Timeout = 10 * time.Second },
			bodies("cancelled ok", "ok"), []string{
				"m1 at 0s, receive 1: retry (deadline), back in 1s: context deadline exceeded",
				"m2 at 0s, receive 1: deferred (no_time), back in 1s",
				"m1 at 9s, receive 2: done",
				"m2 at 9s, receive 2: done",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := bare()
			if tt.set != nil {
				tt.set(&q)
			}
			wantStory(t, q.Run(t, tt.messages...), tt.want...)
		})
	}
}

func refuse(handler.VisibilityChange) error { return errors.New("access denied") }

func TestFIFOGroupsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	q := protected()
	q.Name = "stock.fifo"
	report := q.Run(t,
		handlertest.Message{ID: "a1", Group: "a", Body: "retry retry ok"},
		handlertest.Message{ID: "b1", Group: "b"},
		handlertest.Message{ID: "a2", Group: "a"},
		handlertest.Message{ID: "a3", Group: "a", After: 2 * time.Second},
		handlertest.Message{ID: "b2", Group: "b", After: 2 * time.Second},
	)
	report.RequireRunOrder(t, "a1", "b1", "a1", "b2", "a1", "a2", "a3")
	wantStory(t, report,
		"a1 at 0s, receive 1: retry (busy), back in 1s: provider is busy",
		"b1 at 0s, receive 1: done",
		"a2 at 0s, receive 1: deferred (group_head), back in 1s",
		"a1 at 1s, receive 2: retry (busy), back in 2s: provider is busy",
		"a2 at 1s, receive 2: deferred (group_head), back in 2s",
		"b2 at 2s, receive 1: done",
		"a1 at 3s, receive 3: done",
		"a2 at 3s, receive 3: done",
		"a3 at 3s, receive 1: done",
	)
}

func TestAGroupOnAStandardQueueHasNoEffect(t *testing.T) {
	t.Parallel()
	story := func(group string) string {
		var messages []handlertest.Message
		for _, body := range []string{"retry ok", "ok", "bad", "retry retry ok"} {
			messages = append(messages, handlertest.Message{Body: body, Group: group})
		}
		report := protected().Run(t, messages...)
		report.RequireRunOrder(t, "m1", "m2", "m3", "m4", "m1", "m4", "m4")
		return report.String()
	}
	if with, without := story("tenant-1"), story(""); with != without {
		t.Errorf("with a group:\n%swithout:\n%s", with, without)
	}
}

func TestCopiesAreBusyOrDuplicate(t *testing.T) {
	t.Parallel()
	report := protected().Run(t, handlertest.Message{Body: "retry slow", Copies: []time.Duration{0, time.Minute}})
	wantStory(t, report,
		"m1 at 0s, receive 1: retry (busy), back in 1s: provider is busy",
		"m1 at 0s, receive 2: busy (claimed), back in 1s",
		"m1 at 1s, receive 3: done",
		"m1 at 1s, receive 4: duplicate (completed)",
		"m1 at 1m0s, receive 5: duplicate (completed)",
	)
	report.RequireRuns(t, "m1", 2)
}

func TestAJobIsDeadAfterTwoPanics(t *testing.T) {
	t.Parallel()
	report := protected().Run(t, bodies("ok", "panic", "ok")...)
	report.RequireDeadLetter(t, "m2", "crash_loop")
	report.RequireRunOrder(t, "m1", "m2", "m3", "m2")
	report.RequireOutcomes(t, "m1", handler.OutcomeDone)
	report.RequireOutcomes(t, "m2", handler.OutcomeCrash, handler.OutcomeCrash, handler.OutcomeDead)
	report.RequireOutcomes(t, "m3", handler.OutcomeDeferred, handler.OutcomeDone)
}

func TestRunWaitsForAnAbandonedHandler(t *testing.T) {
	t.Parallel()
	var returned atomic.Int32
	q := bare()
	q.Handler = handler.Func(func(ctx context.Context, m *handler.Message) error {
		defer returned.Add(1)
		return obey(ctx, m)
	})
	report := q.Run(t, bodies("stuck ok")...)
	report.RequireOutcomes(t, "m1", handler.OutcomeCrash, handler.OutcomeDone)
	if n := returned.Load(); n != 2 {
		t.Errorf("%d of 2 calls have returned", n)
	}
}

func TestRunSharesTheBubbleOfItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, begin := protected(), time.Now()
		first := q.Run(t, bodies("retry bad")...)
		letter := first.RequireDeadLetter(t, "m1", "no_user")
		if took := time.Since(begin); took != time.Second {
			t.Errorf("the run took %v of the caller's time, want 1s", took)
		}
		again := handlertest.Replayed(letter)
		again.Body = "ok"
		second := q.Run(t, again, handlertest.Message{ID: "m1", Body: "ok"})
		second.RequireOutcomes(t, "m1-replay", handler.OutcomeDone)
		second.RequireOutcomes(t, "m1", handler.OutcomeDuplicate)
	})
}

func TestInvokeDeliversOneEvent(t *testing.T) {
	t.Parallel()
	report := bare().Invoke(t, handlertest.Message{ID: "a", Body: "retry", Receives: 3, Copies: []time.Duration{0}},
		handlertest.Message{ID: "b", Body: "bad"}, handlertest.Message{ID: "c", After: time.Hour})
	wantStory(t, report,
		"a at 0s, receive 3: retry (busy), back in 4s: provider is busy",
		"b at 0s, receive 1: dead (no_user): no such user",
		"c at 0s, receive 1: done",
	)
	if len(report.DeadLetters) != 1 || report.DeadLetters[0].Message.MessageId != "b" {
		t.Errorf("dead letters are %v, want that of b", report.DeadLetters)
	}
}

func TestInvokeMayDeliverAMessageTwice(t *testing.T) {
	t.Parallel()
	report := protected().Invoke(t, handlertest.Message{ID: "a"}, handlertest.Message{ID: "a", Receives: 2})
	wantStory(t, report, "a at 0s, receive 1: done", "a at 0s, receive 2: duplicate (completed)")
}

func TestTheHandlerGetsTheMessageAsFromLambda(t *testing.T) {
	t.Parallel()
	q := bare()
	q.Name = "charges"
	q.Handler = handler.Func(func(ctx context.Context, m *handler.Message) error {
		deadline, ok := ctx.Deadline()
		if left := time.Until(deadline); !ok || left != 27*time.Second {
			t.Errorf("the run has %v left, want 27s of 30s", left)
		}
		if m.QueueName() != "charges" || m.FIFO() || m.GroupID() != "g" || m.ReceiveCount() != 4 {
			t.Errorf("message of queue %s, FIFO %v, group %q, receive %d", m.QueueName(), m.FIFO(), m.GroupID(),
				m.ReceiveCount())
		}
		if age := time.Since(m.SentAt()); age != time.Hour {
			t.Errorf("the message is %v old, want 1h", age)
		}
		return nil
	})
	synctest.Test(t, func(t *testing.T) {
		q.Run(t, handlertest.Message{Group: "g", Receives: 4, Sent: time.Now().Add(-time.Hour), Queue: "other"})
	})
}
