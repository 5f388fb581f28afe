package handlertest_test

import (
	"context"
	"testing"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
)

func TestNothingIsWrittenAfterAKill(t *testing.T) {
	t.Parallel()
	dead, source := &handlertest.DeadLetterQueue{}, &handlertest.FakeQueue{}
	told := 0
	q := protected()
	q.Options.DeadLetter, q.Options.Queue = dead, source
	q.Options.Hooks = handler.Hooks{
		OnError: func(context.Context, *handler.Message, *handler.Result) { told++ },
		OnDead:  func(context.Context, handler.Letter, string) { told++ },
		OnBatch: func(context.Context, handler.Report) { told++ },
	}
	report := q.Invoke(t, bodies("ok", "kill", "bad")...)
	wantStory(t, report,
		"m1 at 0s, receive 1: done, back in 3m0s",
		"m2 at 0s, receive 1: killed",
		"m3 at 0s, receive 1: killed",
	)
	if n := len(dead.Letters()) + len(source.Changes()) + len(source.Deleted()); n != 0 {
		t.Errorf("%d letters, changes and deletes after the kill, want none", n)
	}
	if told != 0 {
		t.Errorf("hooks were called %d times, want never", told)
	}
}

func TestAKilledRunIsRepeatedButNotARecordedOne(t *testing.T) {
	t.Parallel()
	report := protected().Run(t, bodies("ok", "kill ok", "ok")...)
	report.RequireOutcomes(t, "m1", handler.OutcomeDone, handler.OutcomeDuplicate)
	report.RequireOutcomes(t, "m2", handler.OutcomeNone, handler.OutcomeDone)
	report.RequireOutcomes(t, "m3", handler.OutcomeNone, handler.OutcomeDone)
	report.RequireRunOrder(t, "m1", "m2", "m2", "m3")
}

func TestAJobIsDeadAfterFourKills(t *testing.T) {
	t.Parallel()
	report := protected().Run(t, bodies("kill")...)
	report.RequireRuns(t, "m1", 4)
	report.RequireDeadLetter(t, "m1", "crash_loop")
}

func TestAKillEndsRunsInOtherSlots(t *testing.T) {
	t.Parallel()
	q := protected()
	q.Options.Concurrency = 8
	report := q.Run(t, bodies("slow ok", "kill ok")...)
	report.RequireOutcomes(t, "m1", handler.OutcomeNone, handler.OutcomeDone)
	report.RequireOutcomes(t, "m2", handler.OutcomeNone, handler.OutcomeDone)
}

func TestKillFromAGoroutineOfTheHandler(t *testing.T) {
	t.Parallel()
	q := protected()
	q.Handler = handler.Func(func(ctx context.Context, m *handler.Message) error {
		if m.ReceiveCount() == 1 {
			handler.Go(ctx, func(ctx context.Context) error { handlertest.Kill(ctx); return nil })
		}
		return nil
	})
	q.Run(t, bodies("x")...).RequireOutcomes(t, "m1", handler.OutcomeNone, handler.OutcomeDone)
}

func TestKillOutsideOfARunPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("Kill did not panic")
		}
	}()
	handlertest.Kill(t.Context())
}

func TestACrashDeletesFinishedMessages(t *testing.T) {
	t.Parallel()
	source := &handlertest.FakeQueue{}
	q := bare()
	q.Options.Queue = source
	report := q.Invoke(t, bodies("ok", "panic")...)
	wantStory(t, report,
		"m1 at 0s, receive 1: done",
		"m2 at 0s, receive 1: crash (panic), back in 3m0s: panic: boom",
	)
	if deleted := source.Deleted(); len(deleted) != 1 || deleted[0].MessageId != "m1" {
		t.Errorf("deleted %v, want m1", deleted)
	}
}
