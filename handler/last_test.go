package handler_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// TestWhatDoesNotRunAtItsLastReceive is dead with its record, through the
// middleware, so that a ledger has the verdict.
func TestWhatDoesNotRunAtItsLastReceive(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		drain bool
		why   string
	}{
		{"no time", false, handler.ReasonNoTime},
		{"drain", true, handler.ReasonCancelled},
	}
	for _, tt := range tests {
		inBubble(t, tt.name, func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives, s.options.ClaimInTurn = 30*time.Second, 10, true
			if tt.drain {
				time.AfterFunc(time.Second, func() { close(s.draining) })
			}
			ids := s.run(t, received(10, record("early", "26900ms")), received(10, record("early2", "26900ms")),
				received(10, record("last", "x")))
			if len(ids) != 0 && !cmp.Equal(ids, []string{"early2"}) {
				t.Errorf("reported %v", ids)
			}
			s.before(t, "claim last", "claim last")
			var failure handler.Failure
			for _, l := range s.letters {
				if l.Message.MessageId == "last" {
					failure = l.Failure
				}
			}
			if failure.Reason != handler.ReasonMaxReceives || len(failure.History.Attempts) != 1 ||
				failure.History.Attempts[0].Reason != tt.why {
				t.Errorf("record %+v, want max_receives, last %s", failure, tt.why)
			}
			if want := fmt.Sprintf("not run at its last receive (%s)", tt.why); failure.Message != want {
				t.Errorf("message %q, want %q", failure.Message, want)
			}
		})
	}
}

// TestWhatIsLeftAloneAtItsLastReceive: the queue moves it, or it runs elsewhere.
func TestWhatIsLeftAloneAtItsLastReceive(t *testing.T) {
	t.Parallel()
	says := func(o handler.Outcome) handler.Middleware {
		return func(handler.Func) handler.Func {
			return fails(&handler.Result{Outcome: o, Delay: 3 * time.Second})
		}
	}
	store := func(handler.Func) handler.Func {
		return fails(fault.Retryable(errOdd, fault.Reason(fault.ReasonStore)))
	}
	last := func(r events.SQSMessage) events.SQSMessage { return received(10, r) }
	tests := []struct {
		name       string
		middleware handler.Middleware
		records    []events.SQSMessage
	}{
		{"busy", says(handler.OutcomeBusy), []events.SQSMessage{last(record("m", "x"))}},
		{"unrecorded", says(handler.OutcomeUnrecorded), []events.SQSMessage{last(record("m", "x"))}},
		{"the store is down", store, []events.SQSMessage{last(record("m", "x"))}},
		{"the tail of a group", nil,
			[]events.SQSMessage{grouped("g", record("head", "reset")), last(grouped("g", record("m", "x")))}},
		{"after a crash", nil, []events.SQSMessage{last(record("head", "boom")), last(record("m", "x"))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, inTurn := range []bool{false, true} {
				s := newScene()
				s.options.MaxReceives, s.options.Middleware = 10, []handler.Middleware{tt.middleware}
				s.options.ClaimInTurn = inTurn
				func() {
					defer func() { _ = recover() }()
					s.run(t, tt.records...)
				}()
				if len(s.dead()) != 0 || s.hidden["m"] < time.Second || len(s.queues.deleted) != 0 {
					t.Errorf("dead %v, hidden for %v, deleted %v", s.dead(), s.hidden["m"], s.queues.deleted)
				}
			}
		})
	}
}

// TestVerdictsOfTheReserve are given while there is time to write them, and what
// is not reached is left to the queue. Nothing of that is taken for a hang.
func TestVerdictsOfTheReserve(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.timeout, s.options.MaxReceives, s.options.ClaimInTurn = 30*time.Second, 10, true
		s.options.Middleware = append([]handler.Middleware{func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				err := next(ctx, m)
				<-time.After(20 * time.Millisecond) // a write
				return err
			}
		}}, s.options.Middleware...)
		var records []events.SQSMessage
		for i := range 500 {
			records = append(records, received(10, record(fmt.Sprint("m", i), "26900ms")))
		}
		start := time.Now()
		ids := s.run(t, records...)
		if dead := len(s.dead()); dead < 20 || dead+1+len(ids) != 500 {
			t.Errorf("%d dead, %d reported of 500", dead, len(ids))
		}
		if time.Since(start) > 29*time.Second {
			t.Errorf("took %v", time.Since(start))
		}
	})
}

func TestTheLastReceiveRunsThoughTheBreakerIsOpen(t *testing.T) {
	t.Parallel()
	for _, inTurn := range []bool{false, true} {
		s := newScene()
		s.options.MaxReceives, s.options.ClaimInTurn = 10, inTurn
		ids := s.run(t, received(10, record("l1", "reset")), received(10, record("l2", "reset")),
			received(10, record("l3", "reset")), received(10, record("l4", "reset")), record("m1", "good"))
		if diff := cmp.Diff([]string{"m1"}, ids); diff != "" || len(s.runs()) != 4 {
			t.Errorf("%v ran; reported (-want +got):\n%s", s.runs(), diff)
		}
		if got := s.outcomeOf(t, "m1", "reason"); got != handler.ReasonBreaker {
			t.Errorf("m1: %s: deaths for the surroundings open the breaker too", got)
		}
		if diff := cmp.Diff([]string{"l1", "l2", "l3", "l4"}, s.dead()); diff != "" {
			t.Errorf("dead (-want +got):\n%s", diff)
		}
	}
}

func TestLastAttempt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		receives, limit  int
		key              string
		attempts, budget int
		want             bool
	}{
		{"the first of eight", 1, 0, "", 0, 8, false},
		{"the eighth by receives", 8, 0, "", 0, 8, true},
		{"receives do not count beside a ledger", 8, 0, "k", 0, 8, false},
		{"the eighth by the ledger", 2, 0, "k", 7, 8, true},
		{"the last receive", 5, 5, "k", 0, 8, true},
		{"the only one", 1, 0, "k", 0, 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := newQueues().options()
			o.MaxReceives, o.Backoff = tt.limit, backoff.Exponential{MaxAttempts: tt.budget}
			o.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					m.Job = handler.Job{Key: tt.key, Attempts: tt.attempts}
					return next(ctx, m)
				}
			}}
			handle(t, handler.NewProcessor(handler.Func(func(ctx context.Context, _ *handler.Message) error {
				if got := handler.FromContext(ctx).LastAttempt(); got != tt.want {
					t.Errorf("got %v, want %v", got, tt.want)
				}
				return nil
			}), o), received(tt.receives, record("m1", "x")))
		})
	}
}

func TestNotRunErrorSaysWhy(t *testing.T) {
	t.Parallel()
	err := &handler.NotRunError{Reason: handler.ReasonNoTime, Err: context.DeadlineExceeded}
	if err.Error() != "cut off at its last receive (no_time): context deadline exceeded" ||
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
