package handler_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// A crash stops new messages in all batches of the process. Those under way settle and
// answer.
func TestACrashStopsNewMessagesInAllBatches(t *testing.T) {
	t.Parallel()
	for _, cause := range []string{"2s boom", "2s middleware"} {
		inBubble(t, cause, func(t *testing.T) {
			s := newScene()
			s.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					err := next(ctx, m)
					if m.Body == "2s middleware" {
						panic("in middleware")
					}
					return err
				}
			}}
			p := s.processor()
			var both sync.WaitGroup
			both.Go(func() { crashes(t.Context(), t, p, event(record("m1", cause))) })
			ids := s.runIn(t, p, received(2, record("a", "1s")), received(2, record("b", "3s")),
				received(2, record("c", "1s")), received(2, record("d", "1s")))
			both.Wait()
			if diff := cmp.Diff([]string{"c", "d"}, ids); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
			runs := slices.DeleteFunc(s.runs(), func(id string) bool { return id == "m1" })
			if diff := cmp.Diff([]string{"a", "b"}, runs); diff != "" {
				t.Errorf("ran (-want +got):\n%s", diff)
			}
			if got := s.outcomeOf(t, "c", "reason"); got != handler.ReasonAfterCrash || s.hidden["c"] < time.Second {
				t.Errorf("c: %s, hidden for %v", got, s.hidden["c"])
			}
		})
	}
}

// Nothing starts while a crash is being written to the ledger.
func TestNothingStartsWhileACrashIsMarked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.options.Concurrency, s.ledger.settleTime = 2, time.Second
		ctx, cancel := s.context(t)
		defer cancel()
		crashes(ctx, t, s.processor(), event(record("m1", "1s boom"), record("m2", "1500ms"), record("m3", "x")))
		if got := s.outcomeOf(t, "m3", "reason"); got != handler.ReasonAfterCrash || len(s.runs()) != 2 {
			t.Errorf("m3: %s, ran %v", got, s.runs())
		}
		s.before(t, "m1", "crash m1")
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

// outlives is set in the process that is to end by a panic of a timer, which no test can
// catch.
const outlives = "SQSAFE_TEST_OUTLIVES"

// The Lambda runtime waits for all invocations of a process before it ends. So a process
// ends itself when the claims of a crashed invocation end and others still run.
func TestAProcessDoesNotOutliveTheClaimsOfACrash(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		other   string // what another batch runs; empty for none
		timeout time.Duration
		ends    bool
	}{
		"nobody holds the process up":             {"", 30 * time.Second, false},
		"the other batch ends in time":            {"9s", 30 * time.Second, false},
		"the other batch goes on":                 {"1h", 30 * time.Second, true},
		"without a deadline there is no such end": {"1h", 0, false},
	}
	if name := os.Getenv(outlives); name != "" {
		tt := tests[name]
		synctest.Test(t, func(t *testing.T) {
			s, other := newScene(), newScene()
			s.timeout = tt.timeout
			p := s.processor()
			if tt.other != "" {
				go func() { other.runIn(t, p, record("o1", tt.other)) }()
			}
			ctx, cancel := s.context(t)
			crashes(ctx, t, p, event(record("m1", "1s boom")))
			cancel()
			<-time.After(2 * time.Hour)
		})
		return
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAProcessDoesNotOutliveTheClaimsOfACrash$")
			again.Env = append(os.Environ(), outlives+"="+name)
			out, err := again.CombinedOutput()
			ended := strings.Contains(string(out), "the process outlived a crash")
			if ended != tt.ends || (err != nil) != ended {
				t.Errorf("ended %v, want %v: %v\n%s", ended, tt.ends, err, out[:min(len(out), 2000)])
			}
		})
	}
}

// One processor serves many batches at a time, each with its own state.
func TestOneProcessorServesManyBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.options.Concurrency, s.options.Breaker = 3, -1
		p := s.processor()
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				id := func(name string) string { return fmt.Sprint(name, i) }
				response, err := p.Handle(t.Context(), event(record(id("a"), "good"), record(id("b"), "reset"),
					record(id("c"), "suspect"), record(id("d"), "permanent")))
				if err != nil || !cmp.Equal([]string{id("b")}, reported(response)) {
					t.Errorf("reported %v, %v", reported(response), err)
				}
			})
		}
		all.Wait()
		if len(s.dead()) != 10 || len(s.runs()) != 40 {
			t.Errorf("%d dead, %d ran", len(s.dead()), len(s.runs()))
		}
	})
}

// The goroutine of what was left behind may still be at work: nothing starts beside it.
func TestNothingStartsBesideWhatWasLeftBehind(t *testing.T) {
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
