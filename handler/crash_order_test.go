package handler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// slowLog takes half of a second for each line.
type slowLog struct{ slog.Handler }

func (l slowLog) Handle(ctx context.Context, r slog.Record) error {
	<-time.After(500 * time.Millisecond)
	return l.Handler.Handle(ctx, r)
}

// A suspect that waits beside a message whose middleware panics learns of it
// before it gets the turn.
func TestAPanicOfMiddlewareIsKnownBeforeTheTurnPassesOn(t *testing.T) {
	t.Parallel()
	for n := range 30 {
		inBubble(t, fmt.Sprint(n), func(t *testing.T) {
			crashing, other := newScene(), newScene()
			process := &handler.Process{}
			crashing.options.Process, other.options.Process = process, process
			crashing.options.Concurrency = 2
			crashing.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					if m.MessageId == "m1" {
						<-time.After(time.Second)
						panic("in middleware")
					}
					return next(ctx, m)
				}
			}}
			// The batch is at a line of its log when the panic comes.
			crashing.options.Logger = slog.New(slowLog{crashing.options.Logger.Handler()})
			var both sync.WaitGroup
			both.Go(func() {
				crashes(t.Context(), t, crashing.processor(), event(record("m1", "x"), record("m2", "900ms")))
			})
			<-time.After(500 * time.Millisecond)
			ids := other.run(t, record("s1", "suspect"))
			both.Wait()
			if diff := cmp.Diff([]string{"s1"}, ids); diff != "" || len(other.runs()) != 0 {
				t.Errorf("ran %v, reported (-want +got):\n%s", other.runs(), diff)
			}
			if got := other.outcomeOf(t, "s1", "reason"); got != handler.ReasonAfterCrash {
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
			crashes(ctx, t, handler.NewProcessor(h, o), event(record("m1", "stuck"), record("m2", "boom")))
			// The cut is 2 s before the end, and a grace is half of a second.
			if took := time.Since(start); took > 11*time.Second || ctx.Err() != nil {
				t.Errorf("took %v, context %v", took, ctx.Err())
			}
			close(release)
		})
	}
}

func TestASuspectWhoseTimeEndedAsideDoesNotRun(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		handler.ReasonNoTime: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		},
		handler.ReasonCancelled: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			s := newScene()
			s.options.Concurrency = 2
			s.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					if m.MessageId == "s1" {
						var cancel context.CancelFunc
						ctx, cancel = bound(ctx)
						defer cancel()
					}
					return next(ctx, m)
				}
			}, s.ledger}
			ids := s.run(t, record("s1", "suspect"), record("m1", "3s"), record("s2", "suspect"))
			if diff := cmp.Diff([]string{"s1"}, ids); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"m1", "s2"}, s.runs()); diff != "" {
				t.Errorf("ran (-want +got):\n%s", diff)
			}
			if got := s.outcomeOf(t, "s1", "reason"); got != name {
				t.Errorf("the suspect came back for %q, want %q", got, name)
			}
		})
	}
}

// late is a handler whose Prepare finds the payload broken when the time is over.
type late struct{ handler.Func }

func (late) Prepare(ctx context.Context, _ *handler.Message) error {
	<-ctx.Done()
	return &fault.DecodeError{Err: errors.New("not JSON")}
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
			p := handler.NewProcessor(late{byBody(script)}, q.options())
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
