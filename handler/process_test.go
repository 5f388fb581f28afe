package handler_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// TestACrashStopsNewMessagesInAllInvocations of the process. Those under way
// settle and answer.
func TestACrashStopsNewMessagesInAllInvocations(t *testing.T) {
	t.Parallel()
	for _, cause := range []string{"2s boom", "2s middleware"} {
		inBubble(t, cause, func(t *testing.T) {
			crashing, other := newScene(), newScene()
			process := &handler.Process{}
			crashing.options.Process, other.options.Process = process, process
			crashing.options.Middleware = append(crashing.options.Middleware, func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					err := next(ctx, m)
					if m.Body == "2s middleware" {
						panic("in middleware")
					}
					return err
				}
			})
			var both sync.WaitGroup
			both.Go(func() { crashes(t.Context(), t, crashing.processor(), event(record("m1", cause))) })
			ids := other.run(t, record("a", "1s"), record("b", "3s"), record("c", "1s"), record("d", "1s"))
			both.Wait()
			if diff := cmp.Diff([]string{"c", "d"}, ids); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"a", "b"}, other.runs()); diff != "" {
				t.Errorf("ran (-want +got):\n%s", diff)
			}
			if got := other.outcomeOf(t, "c", "reason"); got != handler.ReasonAfterCrash || other.hidden["c"] < time.Second {
				t.Errorf("c: %s, hidden for %v", got, other.hidden["c"])
			}
		})
	}
}

// TestTheMarkOfACrashHoldsUpNobody: the latch falls before middleware writes it.
func TestTheMarkOfACrashHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.options.Concurrency = 2
		s.options.Middleware = append(s.options.Middleware, func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				err := next(ctx, m)
				if m.MessageId == "m1" {
					<-time.After(time.Second) // the write of the mark
				}
				return err
			}
		})
		ctx, cancel := s.context(t)
		defer cancel()
		crashes(ctx, t, s.processor(), event(record("m1", "1s boom"), record("m2", "1500ms"), record("m3", "x")))
		if got := s.outcomeOf(t, "m3", "reason"); got != handler.ReasonAfterCrash || len(s.runs()) != 2 {
			t.Errorf("m3: %s, ran %v", got, s.runs())
		}
	})
}

func TestAnInvocationAfterACrashAnswersNothing(t *testing.T) {
	t.Parallel()
	s := newScene()
	s.options.MaxReceives = 5
	var report handler.Report
	s.options.Hooks.OnBatch = keep(&report)
	p := s.processor()
	crashes(t.Context(), t, p, event(record("m1", "boom")))
	again := crashes(t.Context(), t, p, event(record("m2", "good"), received(5, record("m3", "good")),
		received(3, record("m4", "suspect"))))
	if !again.ShouldExit || again.Message != "panic: boom" {
		t.Errorf("the runtime sees %+v, want the first cause", again)
	}
	if diff := cmp.Diff([]string{"m1"}, s.runs()); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
	for _, id := range []string{"m2", "m3", "m4"} {
		if s.outcomeOf(t, id, "reason") != handler.ReasonAfterCrash || s.hidden[id] < time.Second {
			t.Errorf("%s: %s, hidden for %v", id, s.outcomeOf(t, id, "reason"), s.hidden[id])
		}
	}
	if len(s.queues.deleted) != 0 || len(s.dead()) != 0 || report.Messages != 3 {
		t.Errorf("deleted %v, dead %v, report %+v", s.queues.deleted, s.dead(), report)
	}
}

func TestTheWatchdog(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		other   string // what another invocation runs; empty for none
		timeout time.Duration
		exits   bool
	}{
		{"nobody holds the process up", "", 30 * time.Second, false},
		{"the other one ends in time", "9s", 30 * time.Second, false},
		{"the other one goes on", "1h", 30 * time.Second, true},
		{"without a deadline nobody watches", "1h", 0, false},
	}
	for _, tt := range tests {
		inBubble(t, tt.name, func(t *testing.T) {
			var exited atomic.Int64
			start := time.Now()
			crashing, other := newScene(), newScene()
			process := &handler.Process{}
			crashing.options.Process, other.options.Process = process, process
			crashing.options.Exit = func() { exited.Store(int64(time.Since(start))) }
			crashing.timeout = tt.timeout
			var both sync.WaitGroup
			if tt.other != "" {
				both.Go(func() { other.run(t, record("o1", tt.other)) })
			}
			ctx, cancel := crashing.context(t)
			crashes(ctx, t, crashing.processor(), event(record("m1", "1s boom")))
			cancel()
			both.Wait()
			<-time.After(time.Hour)
			if want := map[bool]time.Duration{true: tt.timeout}[tt.exits]; exited.Load() != int64(want) {
				t.Errorf("exit after %v, want after %v", time.Duration(exited.Load()), want)
			}
		})
	}
}

// TestOneProcessorServesManyInvocations at a time, each with its own state.
func TestOneProcessorServesManyInvocations(t *testing.T) {
	t.Parallel()
	s := newScene()
	s.options.Concurrency = 3
	p := s.processor()
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			response, err := p.Handle(t.Context(), event(record("a", "good"), record("b", "reset"), record("c", "suspect"),
				record("d", "permanent")))
			if err != nil || !cmp.Equal([]string{"b"}, reported(response)) {
				t.Errorf("reported %v, %v", reported(response), err)
			}
		})
	}
	all.Wait()
	if len(s.dead()) != 10 || len(s.runs()) != 40 {
		t.Errorf("%d dead, %d ran", len(s.dead()), len(s.runs()))
	}
}

// TestWhatIsGivenUpPutsTheProcessInDoubt too: its goroutine may still be at work.
func TestWhatIsGivenUpPutsTheProcessInDoubt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.timeout = 30 * time.Second
		release := make(chan struct{})
		s.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				if m.Body == "hang" {
					<-release
				}
				return next(ctx, m)
			}
		}}
		p := s.processor()
		for _, body := range []string{"hang", "good"} {
			ctx, cancel := s.context(t)
			crash := crashes(ctx, t, p, event(record("m1", body)))
			cancel()
			if crash.Message != handler.ErrAbandoned.Error() {
				t.Errorf("%s: the runtime sees %q", body, crash.Message)
			}
		}
		if len(s.runs()) != 0 {
			t.Errorf("ran %v", s.runs())
		}
		close(release)
	})
}
