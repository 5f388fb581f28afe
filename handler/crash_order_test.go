package handler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// A suspect of another batch waits while a message's middleware panics: it learns of
// that before it gets the process.
func TestASuspectThatWaitsForTheProcessLearnsOfAPanic(t *testing.T) {
	t.Parallel()
	for n := range 30 {
		inBubble(t, fmt.Sprint(n), func(t *testing.T) {
			s := newScene()
			s.options.Concurrency = 2
			s.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					if m.MessageId == "m1" {
						<-time.After(time.Second)
						panic("in middleware")
					}
					return next(ctx, m)
				}
			}}
			p := s.processor()
			var both sync.WaitGroup
			both.Go(func() {
				crashes(t.Context(), t, p, event(record("m1", "x"), record("m2", "900ms")))
			})
			<-time.After(500 * time.Millisecond)
			ids := s.runIn(t, p, record("s1", "suspect"))
			both.Wait()
			if diff := cmp.Diff([]string{"s1"}, ids); diff != "" || slices.Contains(s.runs(), "s1") {
				t.Errorf("ran %v, reported (-want +got):\n%s", s.runs(), diff)
			}
			if got := s.outcomeOf(t, "s1", "reason"); got != handler.ReasonAfterCrash {
				t.Errorf("the suspect came back for %q", got)
			}
		})
	}
}

// Where the cut is near, a crash does not put it off.
func TestACrashShortBeforeTheCutLeavesTheEndAsItIs(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{time.Second, 7 * time.Second, 9 * time.Second} {
		inBubble(t, after.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
			defer cancel()
			q := newQueues()
			o := q.options()
			o.Concurrency = 2
			release := make(chan struct{})
			o.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					if m.Body == "stuck" {
						<-release
					}
					return next(ctx, m)
				}
			}}
			h := handler.Func(func(context.Context, *handler.Message) error { <-time.After(after); panic("boom") })
			start := time.Now()
			crashes(ctx, t, newProcessor(h, o), event(record("m1", "stuck"), record("m2", "boom")))
			// The cut is 2 s before the end, and a grace is half of a second.
			if took := time.Since(start); took > 11*time.Second || ctx.Err() != nil {
				t.Errorf("took %v, context %v", took, ctx.Err())
			}
			close(release)
		})
	}
}

func TestABrokenPayloadIsThatHoweverLateItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, cut := range []bool{false, true} {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			t.Cleanup(cancel)
			if cut {
				time.AfterFunc(time.Second, cancel)
			}
			q := newQueues()
			p := newProcessor(prepares{look: func(ctx context.Context, _ *handler.Message) error {
				<-ctx.Done()
				return &fault.DecodeError{Err: errors.New("not JSON")}
			}}, q.options())
			response, err := p.Handle(ctx, event(record("m1", "x")))
			if err != nil || len(response.BatchItemFailures) != 0 || len(q.letters) != 1 {
				t.Fatalf("reported %v, %v, letters %v", response.BatchItemFailures, err, q.dead())
			}
			if f := q.letters[0].Failure; f.Class != "permanent" || f.Reason != fault.ReasonDecode {
				t.Errorf("died as %s (%s), want permanent (decode)", f.Class, f.Reason)
			}
		}
	})
}

// Without a deadline, what a crash defers is hidden at once, however long it takes to record
// the crash, and whichever of the two the engine sees first.
func TestWhatACrashDefersIsHiddenAtOnce(t *testing.T) {
	t.Parallel()
	for n := range 30 {
		inBubble(t, fmt.Sprint(n), func(t *testing.T) {
			s := newScene()
			s.ledger.settled = func(*handler.Message, handler.Ending) *handler.Result {
				<-time.After(time.Second)
				return nil
			}
			time.AfterFunc(3500*time.Millisecond, func() {
				s.queues.mu.Lock()
				defer s.queues.mu.Unlock()
				if s.hidden["m2"] == 0 || s.outcomeOf(t, "m1", "outcome") != "no line" {
					t.Errorf("hidden %v, outcome of the crash: %s", s.hidden, s.outcomeOf(t, "m1", "outcome"))
				}
			})
			crashes(t.Context(), t, s.processor(), event(record("m1", "3s boom"), record("m2", "x")))
		})
	}
}
