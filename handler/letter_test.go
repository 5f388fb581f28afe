package handler_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// claims is middleware under which the lease of a message lasts as its id says.
func claims(next handler.Func) handler.Func {
	return func(ctx context.Context, m *handler.Message) error {
		r := m.Resolve(ctx, next(ctx, m))
		lease, err := time.ParseDuration(m.MessageId)
		if err != nil {
			return err
		}
		r.Lease = time.Now().Add(lease)
		return r
	}
}

func TestLettersAreSentWhileAllOfTheirClaimsHold(t *testing.T) {
	t.Parallel()
	for _, leases := range [][]string{{"10s", "20s", "5m"}, {"5m", "20s", "10s"}, {"20s", "10s", "5m"}} {
		inBubble(t, fmt.Sprint(leases), func(t *testing.T) {
			q := newQueues()
			var left time.Duration
			q.onSend = func(ctx context.Context) {
				end, _ := ctx.Deadline()
				left = time.Until(end)
			}
			o := q.options()
			o.Middleware = []handler.Middleware{claims}
			p := handler.NewProcessor(byBody(script), o)
			ids := handle(t, p, record(leases[0], "permanent"), record(leases[1], "permanent"), record(leases[2], "permanent"))
			if len(ids) != 0 || !cmp.Equal(q.packs, []int{3}) {
				t.Errorf("reported %v, packs %v; want one of 3", ids, q.packs)
			}
			if want := 10*time.Second - handler.ClockMargin; left != want {
				t.Errorf("the call may take %v, want %v", left, want)
			}
		})
	}
}

// A suspect of another invocation has the turn: no letter may go out beside it.
func TestALetterThatDoesNotGetTheTurnIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, other := newScene(), newScene()
		process := &handler.Process{}
		s.options.Process, other.options.Process = process, process
		s.timeout = 30 * time.Second
		var both sync.WaitGroup
		both.Go(func() {
			<-time.After(500 * time.Millisecond) // m1 is running by then
			other.run(t, record("suspect", "suspect 1m"))
		})
		ids := s.run(t, record("m1", "1s permanent"))
		if diff := cmp.Diff([]string{"m1"}, ids); diff != "" {
			t.Errorf("reported (-want +got):\n%s", diff)
		}
		if len(s.letters) != 0 || s.hidden["m1"] < time.Second {
			t.Errorf("letters %v, hidden for %v", s.dead(), s.hidden["m1"])
		}
		if got := s.logged(t, "dead letter not sent", "error"); !cmp.Equal(got, []string{"context deadline exceeded"}) {
			t.Errorf("logged %v", got)
		}
		both.Wait()
		if diff := cmp.Diff([]string{"suspect"}, other.runs()); diff != "" {
			t.Errorf("ran (-want +got):\n%s", diff)
		}
		// The turn is free again, and whole.
		if ids := s.run(t, record("m2", "suspect"), record("m3", "permanent")); len(ids) != 0 || len(s.letters) != 1 {
			t.Errorf("afterwards %v came back, with letters %v", ids, s.dead())
		}
	})
}

// What is only taken to its verdict is that since the batch was cancelled.
func TestAVerdictOutlivesTheCancellation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, timeout := range []time.Duration{0, 30 * time.Second} {
			s := newScene()
			s.timeout, s.options.MaxReceives = timeout, 3
			ctx, cancel := s.context(t)
			cancel()
			var alive []error
			s.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					alive = append(alive, ctx.Err())
					return next(ctx, m)
				}
			}}
			response, err := s.processor().Handle(ctx, event(received(3, record("m1", "x"))))
			if err != nil || len(response.BatchItemFailures) != 0 || len(s.letters) != 1 {
				t.Errorf("reported %v, %v, letters %v", response.BatchItemFailures, err, s.dead())
			}
			if !cmp.Equal(alive, []error{nil}) {
				t.Errorf("the context of the verdict has ended: %v", alive)
			}
		}
	})
}
