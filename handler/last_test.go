package handler_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// What has no other receive is dead with its record when there is no time for it: cut
// off, or never started before the cut.
func TestNoTimeAtTheLastReceive(t *testing.T) {
	t.Parallel()
	for _, ledger := range []bool{true, false} {
		inBubble(t, fmt.Sprint(ledger), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives = 30*time.Second, 10
			if !ledger {
				s.options.Ledger = nil
			}
			ids := s.run(t, received(10, record("m1", "26900ms")), received(10, record("m2", "10s")),
				received(10, record("m3", "x")))
			if len(ids) != 0 || !cmp.Equal([]string{"m1", "m2"}, s.runs()) {
				t.Errorf("reported %v, ran %v", ids, s.runs())
			}
			said := map[string]string{}
			for _, l := range s.letters {
				f := l.Failure
				if f.Reason != handler.ReasonMaxReceives || len(f.History.Attempts) != 1 ||
					f.History.Attempts[0].Reason != handler.ReasonNoTime {
					t.Errorf("record %+v, want max_receives, last no_time", f)
				}
				said[l.Message.MessageId] = f.Message
			}
			want := map[string]string{
				"m2": "cut off at its last receive (no_time): context deadline exceeded",
				"m3": "not run at its last receive (no_time)",
			}
			if diff := cmp.Diff(want, said); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
			if ledger {
				s.before(t, "claim m3", "verdict m3")
			}
		})
	}
}

// Neither a drain nor the longest of the last runs holds back what has no other
// receive.
func TestTheLastReceiveRunsThoughTheProcessDrains(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, 30 * time.Second} {
		inBubble(t, timeout.String(), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives = timeout, 10
			time.AfterFunc(time.Second, func() { close(s.draining) })
			ids := s.run(t, record("m1", "20s"), record("m2", "x"), received(10, record("last1", "20s")),
				received(10, record("last2", "3s")), received(4, record("m3", "x")))
			if diff := cmp.Diff([]string{"m1", "m2", "m3"}, ids); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"last1", "last2"}, s.runs()); diff != "" || len(s.letters) != 0 {
				t.Errorf("dead %v, ran (-want +got):\n%s", s.dead(), diff)
			}
		})
	}
}

// What has no other receive is started although it may not end in time, unless even the
// shortest of the last runs could not. Then it is dead with its record, and is not left
// behind in a run that ends the process.
func TestALastReceiveThatCannotEndInTimeIsNotStarted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		before  string // what six jobs before it took
		started bool
	}{{"all were long", "5s", false}, {"some was short", "3s", true}} {
		inBubble(t, tt.name, func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives, s.options.Concurrency = 10*time.Second, 5, 6
			p := s.processor()
			before := []events.SQSMessage{record("b0", tt.before)}
			for i := range 5 {
				before = append(before, record(fmt.Sprint("b", i+1), "7s"))
			}
			s.runIn(t, p, before...)
			// They take all slots for 4 s, so that 4 s are left for the last one.
			var records []events.SQSMessage
			for i := range 6 {
				records = append(records, received(5, record(fmt.Sprint("m", i), "4s")))
			}
			ids := s.runIn(t, p, append(records, received(5, record("last", "1s")))...)
			started := slices.Contains(s.runs(), "last")
			if started != tt.started || slices.Contains(s.dead(), "last") == tt.started || len(ids) != 0 {
				t.Errorf("started %v, want %v; dead %v, reported %v", started, tt.started, s.dead(), ids)
			}
		})
	}
}

// What runs elsewhere, or has no verdict, is left to the redrive policy of the queue.
func TestLeftToTheRedrivePolicyAtTheLastReceive(t *testing.T) {
	t.Parallel()
	decides := func(r *handler.Result) func(s *scene) {
		return func(s *scene) { s.ledger.decided = func(*handler.Message) *handler.Result { return r } }
	}
	last := func(r events.SQSMessage) events.SQSMessage { return received(10, r) }
	tests := []struct {
		name    string
		set     func(s *scene)
		records []events.SQSMessage
	}{
		{"busy", decides(&handler.Result{Outcome: handler.OutcomeBusy, Delay: 3 * time.Second}),
			[]events.SQSMessage{last(record("m", "x"))}},
		{"unrecorded", func(s *scene) {
			s.ledger.settled = func(*handler.Message, handler.Ending) *handler.Result {
				return &handler.Result{Outcome: handler.OutcomeUnrecorded, Delay: 3 * time.Second}
			}
		}, []events.SQSMessage{last(record("m", "x"))}},
		{"the store is down", decides(storeDown(errOdd)), []events.SQSMessage{last(record("m", "x"))}},
		{"an error of middleware that says so", func(s *scene) {
			s.options.Middleware = []handler.Middleware{func(handler.Func) handler.Func {
				return fails(fault.Retryable(errOdd, fault.WithReason(fault.ReasonStore)))
			}}
		}, []events.SQSMessage{last(record("m", "x"))}},
		{"the tail of a group", func(*scene) {},
			[]events.SQSMessage{grouped("g", record("head", "reset")), last(grouped("g", record("m", "x")))}},
		{"after a crash", func(*scene) {}, []events.SQSMessage{last(record("head", "boom")), last(record("m", "x"))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene()
			s.options.MaxReceives = 10
			tt.set(s)
			func() {
				defer func() { _ = recover() }()
				s.run(t, tt.records...)
			}()
			if len(s.dead()) != 0 || s.hidden["m"] < time.Second || len(s.queues.deleted) != 0 {
				t.Errorf("dead %v, hidden for %v, deleted %v", s.dead(), s.hidden["m"], s.queues.deleted)
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
		s.timeout, s.options.MaxReceives = 30*time.Second, 10
		s.ledger.claimTime, s.ledger.settleTime = 10*time.Millisecond, 20*time.Millisecond
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
	s := newScene()
	s.options.MaxReceives, s.options.Breaker = 10, 3
	// The probe is m1: what has no other receive needs none.
	ids := s.run(t, received(10, record("l1", "reset")), received(10, record("l2", "reset")),
		received(10, record("l3", "reset")), received(10, record("l4", "reset")), record("m1", "reset"), record("m2", "good"))
	if diff := cmp.Diff([]string{"m1", "m2"}, ids); diff != "" || len(s.runs()) != 5 {
		t.Errorf("%v ran; reported (-want +got):\n%s", s.runs(), diff)
	}
	if got := s.outcomeOf(t, "m2", "reason"); got != handler.ReasonBreaker {
		t.Errorf("m2: %s: deaths by what jobs depend on open the breaker too", got)
	}
	dead := s.dead()
	slices.Sort(dead)
	if diff := cmp.Diff([]string{"l1", "l2", "l3", "l4"}, dead); diff != "" {
		t.Errorf("dead (-want +got):\n%s", diff)
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
			if tt.key != "" {
				ledger := newLedger(newTrace())
				ledger.job = handler.Job{Key: tt.key, Attempts: tt.attempts}
				o.Ledger = ledger
			}
			handle(t, newProcessor(handler.Func(func(ctx context.Context, _ *handler.Message) error {
				if got := handler.FromContext(ctx).LastAttempt(); got != tt.want {
					t.Errorf("got %v, want %v", got, tt.want)
				}
				return nil
			}), o), received(tt.receives, record("m1", "x")))
		})
	}
}

// A claim that the cut has ended is not made again when it is answered at the very moment at
// which all is left behind, whichever of the two the engine sees first.
func TestNoClaimIsMadeAgainWhenAllIsLeftBehind(t *testing.T) {
	t.Parallel()
	for n := range 30 {
		inBubble(t, fmt.Sprint(n), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives = 30*time.Second, 10
			ctx, cancel := s.context(t)
			defer cancel()
			var claims atomic.Int32
			s.ledger.decided = func(m *handler.Message) *handler.Result {
				claims.Add(1)
				<-ctx.Done()
				<-time.After(time.Second)
				return &handler.Result{Outcome: handler.OutcomeDeferred, Decision: fault.Decision{Reason: handler.ReasonCancelled}}
			}
			time.AfterFunc(2*time.Second, cancel)
			if _, err := s.processor().Handle(ctx, event(received(10, record("m1", "x")))); err != nil || claims.Load() != 1 {
				t.Errorf("%d claims, error %v; want one", claims.Load(), err)
			}
		})
	}
}
