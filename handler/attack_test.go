package handler_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// A letter does not wait for a job of hours beside it: its lease would end before, and
// SQS might move the message without its record.
func TestALetterDoesNotWaitForALongJob(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, 15 * time.Minute} {
		inBubble(t, timeout.String(), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.Concurrency = timeout, 2
			s.ledger.letterLease = func(*handler.Message) time.Duration { return time.Minute }
			start := time.Now()
			var sent []time.Duration
			s.onSend = func(context.Context) { sent = append(sent, time.Since(start)) }
			ids := s.run(t, record("long", "14m"), record("d1", "permanent"), record("d2", "permanent"),
				record("d3", "10s permanent"))
			if timeout == 0 && len(ids) > 0 || slices.Contains(ids, "d1") || len(s.dead()) != 3 {
				t.Errorf("reported %v, dead %v", ids, s.dead())
			}
			if diff := cmp.Diff([]time.Duration{time.Second, 11 * time.Second}, sent); diff != "" {
				t.Errorf("sent after (-want +got):\n%s", diff)
			}
		})
	}
}

// abandoned runs a job that ignores its context, and gives how it is blamed. It has so
// many crashes, and starts so long after the begin of an invocation of 20 s, 18 s of
// which are for jobs.
func abandoned(t *testing.T, crashes int, late time.Duration, r events.SQSMessage) (e handler.Ending, ran bool) {
	t.Helper()
	s := newScene()
	s.timeout, s.options.MaxReceives = 20*time.Second, 30
	s.ledger.job.Crashes = crashes
	s.ledger.settled = func(m *handler.Message, ended handler.Ending) *handler.Result {
		if m.MessageId == "deaf" {
			e = ended
		}
		return nil
	}
	h := handler.Func(func(ctx context.Context, m *handler.Message) error {
		if m.MessageId == "deaf" {
			ran = true
			<-time.After(time.Hour)
		}
		return nil
	})
	s.ledger.on = func(_ context.Context, call string, m *handler.Message) {
		if call == "claim" && m.MessageId == "deaf" {
			<-time.After(late)
		}
	}
	ctx, cancel := s.context(t)
	defer cancel()
	func() {
		defer func() { _ = recover() }()
		_, _ = must(handler.NewProcessor(h, s.options)).Handle(ctx, event(r))
	}()
	<-time.After(time.Hour)
	return e, ran
}

// The crash that makes a job dead is that of a run which had most of the time: a job that
// only takes long is not buried since it was started late twice. So it does not start
// late, as long as it has receives enough and no group waits for it.
func TestALateStartIsNoCrashLoop(t *testing.T) {
	t.Parallel()
	const half, most = 9 * time.Second, 4500 * time.Millisecond
	deaf := func(receives int) events.SQSMessage { return received(receives, record("deaf", "x")) }
	tests := map[string]struct {
		crashes     int
		late        time.Duration
		record      events.SQSMessage
		runs, blame bool
	}{
		"never crashed, half of the time":       {0, half, deaf(2), true, true},
		"never crashed, less":                   {0, half + time.Second, deaf(2), true, false},
		"crashed, most of the time":             {1, most, deaf(2), true, true},
		"crashed, less":                         {1, most + time.Second, deaf(2), false, false},
		"crashed, less, urgent":                 {1, most + time.Second, deaf(20), true, false},
		"crashed, less, its group waits":        {1, most + time.Second, grouped("g", deaf(2)), true, false},
		"crashed, most, half of the receives":   {1, most, deaf(15), true, true},
		"crashed, most, its group waits for it": {1, most, grouped("g", deaf(2)), true, true},
	}
	for name, tt := range tests {
		inBubble(t, name, func(t *testing.T) {
			e, ran := abandoned(t, tt.crashes, tt.late, tt.record)
			if ran != tt.runs || e.Blamed != tt.blame {
				t.Errorf("ran %v, blamed %v, want %v and %v", ran, e.Blamed, tt.runs, tt.blame)
			}
		})
	}
}

// What another job's crash cuts off is not to blame, whatever time it had.
func TestABystanderOfACrashIsNotBlamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.timeout, s.options.Concurrency = time.Minute, 2
		var told handler.Ending
		s.ledger.settled = func(m *handler.Message, e handler.Ending) *handler.Result {
			if m.MessageId == "deaf" {
				told = e
			}
			return nil
		}
		h := handler.Func(func(ctx context.Context, m *handler.Message) error {
			if m.MessageId == "deaf" {
				<-time.After(45 * time.Second) // it would have ended in time
			}
			return steps(ctx, m)
		})
		ctx, cancel := s.context(t)
		defer cancel()
		crashes(ctx, t, must(handler.NewProcessor(h, s.options)), event(record("deaf", "x"), record("boom", "28s boom")))
		if !told.Running || told.Blamed {
			t.Errorf("the ledger was told %+v", told)
		}
		<-time.After(time.Hour)
	})
}
