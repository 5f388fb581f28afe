package handler_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// What is left behind at its last receive has a dead letter that says so, before the
// process ends: SQS would move it without a record.
func TestLeftBehindAtTheLastReceive(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		where, group string
		receives     int
		ledger, dead bool
	}{
		{"handler", "", 10, true, true},
		{"handler", "", 10, false, true},
		{"goroutine", "", 10, true, true},
		{"middleware before", "", 10, true, true},
		{"prepare", "", 10, true, true},
		{"handler", "", 9, true, false},
		{"middleware after", "", 10, true, false}, // the function has returned: unrecorded
		{"handler", "g", 10, true, false},         // the group would go on beside its goroutine
	} {
		inBubble(t, fmt.Sprint(tt), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives = 30*time.Second, 10
			if !tt.ledger {
				s.options.Ledger = nil
			}
			s.ledger.confirm = func(context.Context, string) error {
				t.Error("confirmed a verdict that was never written")
				return nil
			}
			release := make(chan struct{})
			defer close(release)
			hang := func() { <-release }
			s.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					if tt.where == "middleware before" {
						hang()
					}
					err := next(ctx, m)
					if tt.where == "middleware after" {
						hang()
					}
					return err
				}
			}}
			r := received(tt.receives, record("m1", "hang"))
			if tt.group != "" {
				r = grouped(tt.group, r)
			}
			ctx, cancel := s.context(t)
			defer cancel()
			crashes(ctx, t, newProcessor(hanging{tt.where, hang}, s.options), event(r))
			if ctx.Err() != nil {
				t.Error("the process ended too late")
			}
			if !tt.dead {
				if len(s.letters) != 0 || len(s.queues.deleted) != 0 {
					t.Errorf("letters %+v, deleted %v", s.letters, s.queues.deleted)
				}
				return
			}
			if len(s.letters) != 1 || !cmp.Equal([]string{"m1"}, s.queues.deleted) {
				t.Fatalf("letters %+v, deleted %v", s.letters, s.queues.deleted)
			}
			f := s.letters[0].Failure
			if f.Reason != handler.ReasonMaxReceives || f.History.Attempts[0].Reason != handler.ReasonAbandoned ||
				f.Verdict || !strings.Contains(f.Message, "may still take effect") {
				t.Errorf("record %+v", f)
			}
		})
	}
}

// What another job's crash leaves behind is not decided, and neither is a letter sent that
// is not confirmed.
func TestLeftBehindAtTheLastReceiveWithoutALetter(t *testing.T) {
	t.Parallel()
	for _, why := range []string{"a crash of another job", "the send fails"} {
		inBubble(t, why, func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives, s.options.Concurrency = 30*time.Second, 10, 2
			other := "x"
			if why == "the send fails" {
				s.sendErr = map[string]error{"m1": errOdd}
			} else {
				other = "1s boom"
			}
			release := make(chan struct{})
			defer close(release)
			h := handler.Func(func(ctx context.Context, m *handler.Message) error {
				if m.MessageId == "m1" {
					<-release
				}
				return steps(ctx, m)
			})
			ctx, cancel := s.context(t)
			defer cancel()
			crashes(ctx, t, newProcessor(h, s.options), event(received(10, record("m1", "x")), record("m2", other)))
			if len(s.letters) != 0 || s.hidden["m1"] == 0 || cmp.Equal([]string{"m1"}, s.queues.deleted) {
				t.Errorf("letters %+v, hidden for %v, deleted %v", s.letters, s.hidden["m1"], s.queues.deleted)
			}
		})
	}
}

// Nothing of the job runs beside the goroutine that was left behind: until the process has
// ended for certain its claim stays, also for a replay of the letter. After that the job
// runs again under its key.
func TestAReplayOfWhatWasLeftBehindWaitsForTheEndOfItsProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.timeout, s.options.MaxReceives = 30*time.Second, 10
		keys := &idem.Options{Logger: noLog, Key: func(context.Context, *handler.Message) (string, error) { return "k", nil }}
		s.options.Ledger = must(idem.New(idem.NewMemory(), keys))
		release := make(chan struct{})
		defer close(release)
		var runs atomic.Int32
		h := handler.Func(func(context.Context, *handler.Message) error {
			if runs.Add(1) == 1 {
				<-release
			}
			return nil
		})
		begin := time.Now()
		ctx, cancel := s.context(t)
		defer cancel()
		crashes(ctx, t, newProcessor(h, s.options), event(received(10, record("m1", "x"))))
		if len(s.letters) != 1 || s.letters[0].Failure.Verdict {
			t.Fatalf("letters %+v", s.letters)
		}
		if got := s.runIn(t, newProcessor(h, s.options), record("replay", "x")); len(got) != 1 || runs.Load() != 1 ||
			s.outcomeOf(t, "replay", "outcome") != "busy" {
			t.Errorf("%s, %d runs", s.outcomeOf(t, "replay", "outcome"), runs.Load())
		}
		<-time.After(time.Until(begin.Add(33 * time.Second)))
		if got := s.runIn(t, newProcessor(h, s.options), record("again", "x")); len(got) != 0 || runs.Load() != 2 {
			t.Errorf("%s, %d runs", s.outcomeOf(t, "again", "outcome"), runs.Load())
		}
	})
}

// A worker that is told to stop leaves nothing to the redrive policy either.
func TestAStoppedWorkerLeavesARecordOfItsLastReceive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.options.MaxReceives = 10
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		defer close(release)
		time.AfterFunc(time.Minute, cancel)
		h := handler.Func(func(context.Context, *handler.Message) error { <-release; return nil })
		response, err := newProcessor(h, s.options).Handle(ctx, event(received(10, record("m1", "x"))))
		if err != nil || len(reported(response)) != 0 || len(s.letters) != 1 {
			t.Fatalf("reported %v, %v, letters %+v", reported(response), err, s.letters)
		}
		if got := s.letters[0].Failure.History.Attempts[0].Reason; got != handler.ReasonCancelled {
			t.Errorf("its last run ended by %s", got)
		}
	})
}
