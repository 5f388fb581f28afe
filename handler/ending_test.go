package handler_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// TestWhatHangsIsGivenUpInTime wherever it hangs, and the rest is settled.
func TestWhatHangsIsGivenUpInTime(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{time.Second, 3 * time.Second, 30 * time.Second, 15 * time.Minute} {
		for _, where := range []string{"handler", "middleware before", "middleware after", "prepare", "goroutine"} {
			t.Run(fmt.Sprint(timeout, where), func(t *testing.T) {
				t.Parallel()
				release := make(chan struct{})
				synctest.Test(t, func(t *testing.T) {
					hang := func() { <-release }
					q := newQueues()
					o := q.options()
					o.Concurrency = 2
					o.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
						return func(ctx context.Context, m *handler.Message) error {
							if m.Body == "hang" && where == "middleware before" {
								hang()
							}
							err := next(ctx, m)
							if m.Body == "hang" && where == "middleware after" {
								hang()
							}
							return err
						}
					}}
					h := hanging{where: where, hang: hang}
					release = make(chan struct{})
					ctx, cancel := context.WithTimeout(t.Context(), timeout)
					defer cancel()
					start := time.Now()
					crash := crashes(ctx, t, newProcessor(h, o), event(record("m1", "hang"), record("m2", "good"),
						record("m3", "reset"), record("m4", "permanent")))
					if took := time.Since(start); took >= timeout || ctx.Err() != nil {
						t.Errorf("took %v of %v", took, timeout)
					}
					reason := handler.ReasonAbandoned
					if where == "middleware after" { // the function itself has returned
						reason = handler.ReasonMiddleware
					}
					if crash.Message != handler.ErrAbandoned.Error() || q.outcomeOf(t, "m1", "reason") != reason {
						t.Errorf("the runtime sees %q, reason %s", crash.Message, q.outcomeOf(t, "m1", "reason"))
					}
					if diff := cmp.Diff([]string{"m2", "m4"}, q.deleted); diff != "" || q.hidden["m3"] != time.Second {
						t.Errorf("m3 hidden for %v; deleted (-want +got):\n%s", q.hidden["m3"], diff)
					}
					close(release)
				})
			})
		}
	}
}

// hanging is a handler that hangs for messages with the body "hang".
type hanging struct {
	where string
	hang  func()
}

func (h hanging) Prepare(_ context.Context, m *handler.Message) (func(context.Context) error, error) {
	if m.Body == "hang" && h.where == "prepare" {
		h.hang()
	}
	return func(ctx context.Context) error {
		switch {
		case m.Body == "hang" && h.where == "handler":
			h.hang()
		case m.Body == "hang" && h.where == "goroutine":
			handler.Go(ctx, func(context.Context) error { h.hang(); return nil })
		}
		return byBody(script)(ctx, m)
	}, nil
}

// The ledger is told that the goroutine of the handler was left behind, and whether it
// is to blame: one that had at least half of the time for jobs is.
func TestTheLedgerLearnsOfAnAbandonedHandler(t *testing.T) {
	t.Parallel()
	for before, blamed := range map[string]bool{"x": true, "7100ms": true, "7200ms": false} { // two of them
		inBubble(t, before, func(t *testing.T) {
			s := newScene()
			s.timeout = 30 * time.Second
			var told handler.Ending
			s.ledger.settled = func(m *handler.Message, e handler.Ending) *handler.Result {
				if m.MessageId == "m2" {
					told = e
				}
				return nil
			}
			release := make(chan struct{})
			h := handler.Func(func(ctx context.Context, m *handler.Message) error {
				if m.Body == "deaf" {
					<-release
				}
				return steps(ctx, m)
			})
			ctx, cancel := s.context(t)
			defer cancel()
			crashes(ctx, t, newProcessor(h, s.options), event(record("m1", before), record("m1b", before), record("m2", "deaf")))
			if !errors.Is(told.Result, handler.ErrAbandoned) || !told.Running || !told.Started || told.Blamed != blamed {
				t.Errorf("the ledger was told %+v, %v", told, told.Result)
			}
			close(release)
		})
	}
}

// What comes back after it was left behind changes nothing.
func TestALateReturnOfAnAbandonedRunIsIgnored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.timeout = 30 * time.Second
		s.options.Concurrency = 3
		// The sends keep the batch open behind the end of its hung messages.
		s.onSend = func(ctx context.Context) { <-ctx.Done() }
		s.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				if m.MessageId != "m3" {
					<-time.After(28700 * time.Millisecond)
				}
				return next(ctx, m)
			}
		}}
		ctx, cancel := s.context(t)
		defer cancel()
		crashes(ctx, t, s.processor(), event(record("m1", "x"), record("m2", "x"), record("m3", "26s permanent")))
		if ctx.Err() != nil || !cmp.Equal([]string{"m3"}, s.queues.deleted) {
			t.Errorf("%v, deleted %v, want m3", ctx.Err(), s.queues.deleted)
		}
		for _, id := range []string{"m1", "m2"} {
			if got := s.outcomeOf(t, id, "reason"); got != handler.ReasonAbandoned {
				t.Errorf("%s: %s", id, got)
			}
		}
		<-time.After(time.Minute) // for those that were left behind
	})
}

// TestWhatRunsBesideACrash has a short grace, and then is cut off at no cost.
func TestWhatRunsBesideACrash(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		timeout    time.Duration
		want       string
		took       time.Duration
	}{
		{"finishes in the grace", "5s", 15 * time.Minute, "done", 5 * time.Second},
		{"is cut off", "1h", 15 * time.Minute, "deferred", 6 * time.Second},
		{"is cut off where nothing else limits it", "1h", 0, "deferred", 6 * time.Second},
		{"is given up", "deaf", 15 * time.Minute, "crash", 11 * time.Second},
		{"is given up where nothing else limits it", "deaf", 0, "crash", 7 * time.Second},
		{"is not given more than there is", "1h", 5 * time.Second, "retry", 3 * time.Second},
	}
	for _, tt := range tests {
		inBubble(t, tt.name, func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.Concurrency, s.options.MaxReceives = tt.timeout, 2, 5
			release := make(chan struct{})
			h := s.taking(func(ctx context.Context, m *handler.Message) error {
				if m.Body == "deaf" {
					<-release
				}
				return steps(ctx, m)
			})
			ctx, cancel := s.context(t)
			defer cancel()
			p := newProcessor(h, s.options)
			start := time.Now()
			receives := 5
			if tt.want == "retry" {
				receives = 4 // it has had its time, so at the last receive it would be dead
			}
			crash := crashes(ctx, t, p, event(
				received(receives, record("m1", tt.body)), received(5, record("m2", "1s boom")), received(3, record("m3", "x"))))
			if crash.Message != "panic: boom" {
				t.Errorf("the runtime sees %q, want the first cause", crash.Message)
			}
			if got := s.outcomeOf(t, "m1", "outcome"); got != tt.want || len(s.dead()) != 0 {
				t.Errorf("%s %s, dead %v, want %s", got, s.outcomeOf(t, "m1", "reason"), s.dead(), tt.want)
			}
			if took := time.Since(start); took != tt.took {
				t.Errorf("took %v, want %v", took, tt.took)
			}
			if got := s.outcomeOf(t, "m3", "reason"); got != handler.ReasonAfterCrash {
				t.Errorf("m3: %s", got)
			}
			if again := crashes(ctx, t, p, event(record("m4", "x"))); again.Message != "panic: boom" {
				t.Errorf("then the runtime sees %q, want the first cause", again.Message)
			}
			close(release)
		})
	}
}

// TestAnyErrorOfACancelledBatchIsFree: drivers say of a cancelled call what they like.
func TestAnyErrorOfACancelledBatchIsFree(t *testing.T) {
	t.Parallel()
	q := newQueues()
	ctx, cancel := context.WithCancel(t.Context())
	h := handler.Func(func(context.Context, *handler.Message) error {
		cancel()
		return errors.New("use of closed connection")
	})
	if _, err := newProcessor(h, q.options()).Handle(ctx, event(record("m1", "x"))); err != nil {
		t.Fatal(err)
	}
	if got := q.outcomeOf(t, "m1", "outcome"); got != "deferred" {
		t.Errorf("outcome %s, want deferred", got)
	}
}

// TestAMessageThatSpentItsTimeInMiddlewareDoesNotStart in the reserve.
func TestAMessageThatSpentItsTimeInMiddlewareDoesNotStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.timeout = 30 * time.Second
		s.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				if m.MessageId != "m1" {
					<-ctx.Done()
				}
				return next(ctx, m)
			}
		}}
		ids := s.run(t, record("m1", "x"), record("m2", "x"))
		if diff := cmp.Diff([]string{"m2"}, ids); diff != "" || len(s.runs()) != 1 {
			t.Errorf("ran %v; reported (-want +got):\n%s", s.runs(), diff)
		}
	})
}
