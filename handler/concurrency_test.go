package handler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

func TestAsManyRunAtATimeAsTheOptionSays(t *testing.T) {
	t.Parallel()
	for option, want := range map[int]int{0: 1, 1: 1, 3: 3, 8: 8, 100: 20} {
		inBubble(t, fmt.Sprint(option), func(t *testing.T) {
			s := newScene()
			s.options.Concurrency = option
			records := many(20, "1s")
			start := time.Now()
			if ids := s.run(t, records...); len(ids) != 0 {
				t.Errorf("reported %v", ids)
			}
			if s.most != want {
				t.Errorf("%d ran at a time, want %d", s.most, want)
			}
			if took, least := time.Since(start), time.Duration((20+want-1)/want)*time.Second; took != least {
				t.Errorf("took %v, want %v: all places are to be in use", took, least)
			}
		})
	}
}

// many are records m00, m01, … with one body.
func many(n int, body string) []events.SQSMessage {
	var records []events.SQSMessage
	for i := range n {
		records = append(records, record(fmt.Sprintf("m%02d", i), body))
	}
	return records
}

// TestTheEndsDoNotDependOnConcurrency runs one batch one by one and side by side.
func TestTheEndsDoNotDependOnConcurrency(t *testing.T) {
	t.Parallel()
	bodies := []string{"1s", "2s reset", "permanent", "3s odd", "1s wait", "1s permanent", "environment", "good"}
	ends := map[int]map[string]string{}
	synctest.Test(t, func(t *testing.T) {
		for _, concurrency := range []int{1, 8} {
			s := newScene()
			s.options.Concurrency, s.options.Breaker = concurrency, -1
			var records []events.SQSMessage
			for i := range 24 {
				records = append(records, received(1+i%3, record(fmt.Sprintf("m%02d", i), bodies[i%len(bodies)])))
			}
			back := s.run(t, records...)
			ends[concurrency] = map[string]string{}
			for _, r := range records {
				id := r.MessageId
				ends[concurrency][id] = fmt.Sprint(s.outcomeOf(t, id, "outcome"), s.outcomeOf(t, id, "reason"),
					s.hidden[id], slices.Contains(back, id), slices.Contains(s.dead(), id))
			}
		}
	})
	if diff := cmp.Diff(ends[1], ends[8]); diff != "" {
		t.Errorf("ends (-one by one +side by side):\n%s", diff)
	}
}

func TestGroupsOfAFIFOQueueRunSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.options.Concurrency = 8
		start := time.Now()
		ids := s.run(t,
			grouped("a", record("a1", "2s")), grouped("a", record("a2", "2s")), grouped("b", record("b1", "2s")),
			grouped("b", record("b2", "2s reset")), grouped("b", record("b3", "2s")), grouped("c", record("c1", "2s")))
		if diff := cmp.Diff([]string{"b2", "b3"}, ids); diff != "" {
			t.Errorf("reported (-want +got):\n%s", diff)
		}
		if time.Since(start) != 4*time.Second || s.most != 3 {
			t.Errorf("took %v with %d at a time, want 4 s with one of each group", time.Since(start), s.most)
		}
		for _, id := range []string{"a1", "a2", "b1", "b2"} {
			for _, other := range s.beside[id] {
				if other[0] == id[0] {
					t.Errorf("%s and %s of one group ran at a time", id, other)
				}
			}
		}
		if s.hidden["b3"] != s.hidden["b2"] || s.outcomeOf(t, "b3", "reason") != handler.ReasonGroupHead {
			t.Errorf("b3 comes back after %v, want as its head after %v", s.hidden["b3"], s.hidden["b2"])
		}
	})
}

// TestAGroupWaitsForTheLetterOfItsHead: until the dead-letter queue has it, the head may
// come back. The write that confirms it does not change that.
func TestAGroupWaitsForTheLetterOfItsHead(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		inBubble(t, fmt.Sprint(concurrency), func(t *testing.T) {
			s := newScene()
			s.options.Concurrency = concurrency
			s.onSend = func(context.Context) { <-time.After(3 * time.Second); s.note("send over") }
			s.ledger.confirm = func(context.Context, string) error {
				<-time.After(time.Second)
				s.note("confirm over")
				return nil
			}
			ids := s.run(t, grouped("a", record("a1", "permanent")), grouped("a", record("a2", "good")),
				grouped("b", record("b1", "10s")), grouped("b", record("b2", "1s")))
			if len(ids) != 0 {
				t.Errorf("reported %v", ids)
			}
			s.before(t, "send over", "a2")
			s.before(t, "b1", "send over") // the other group does not wait
			if concurrency > 1 {
				s.before(t, "a2", "b2") // nor does this one for the other
				s.before(t, "a2", "confirm over")
			}
		})
	}
}

// TestWhatIsBegunAheadInAGroupEndsInItsTurn: a message that is refused, or whose job is done
// already, before the one in front of it is recorded waits for that.
func TestWhatIsBegunAheadInAGroupEndsInItsTurn(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(s *scene){
		"refused": func(s *scene) {
			s.ledger.identify = func(m *handler.Message) error {
				if m.MessageId == "a2" {
					return fault.Permanent(errors.New("no key"))
				}
				return nil
			}
		},
		"decided": func(s *scene) {
			s.ledger.decided = func(m *handler.Message) *handler.Result {
				if m.MessageId == "a2" {
					return &handler.Result{Outcome: handler.OutcomeDuplicate}
				}
				return nil
			}
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			s := newScene()
			s.ledger.ahead, s.ledger.settleTime = true, time.Second
			prepare(s)
			ids := s.run(t, grouped("a", record("a1", "good")), grouped("a", record("a2", "good")),
				grouped("a", record("a3", "good")))
			if diff := cmp.Diff([]string{"a1", "a3"}, s.runs()); diff != "" || len(ids) != 0 {
				t.Errorf("reported %v, ran (-want +got):\n%s", ids, diff)
			}
		})
	}
}

// TestAGroupOnAStandardQueueIsNoOrder: fair queues have groups.
func TestAGroupOnAStandardQueueIsNoOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.options.Concurrency = 8
		records := many(8, "1s reset")
		for _, r := range records {
			r.Attributes["MessageGroupId"] = "tenant"
		}
		s.options.Breaker = -1
		s.run(t, records...)
		if s.most != 8 || len(s.runs()) != 8 {
			t.Errorf("%d of %d at a time, want 8 of 8", s.most, len(s.runs()))
		}
	})
}

func TestWhoComesFirst(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		s := newScene()
		s.options.Concurrency, s.options.MaxReceives = concurrency, 9
		s.run(t, received(7, record("old", "x")), record("new1", "x"), received(2, record("again", "x")),
			received(9, record("last1", "x")), received(12, record("last2", "x")), record("new2", "x"))
		want := []string{"claim last1", "claim last2", "claim old", "claim new1", "claim new2", "claim again"}
		var got []string
		for _, e := range s.events {
			if concurrency == 1 && len(e) > 6 && e[:6] == "claim " {
				got = append(got, e)
			}
		}
		if diff := cmp.Diff(want, got); concurrency == 1 && diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		if len(s.runs()) != 6 {
			t.Errorf("ran %v", s.runs())
		}
	}
}

// TestMiddlewareMayRunAJobTwice, one run after the other or both at a time.
func TestMiddlewareMayRunAJobTwice(t *testing.T) {
	t.Parallel()
	for name, middleware := range map[string]handler.Middleware{
		"again": func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				if err := next(ctx, m); err == nil {
					return nil
				}
				return next(ctx, m)
			}
		},
		"with another message": func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				_ = next(ctx, m)
				return next(ctx, &handler.Message{SQSMessage: m.SQSMessage})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQueues()
			o := q.options()
			o.Middleware = []handler.Middleware{middleware}
			runs := 0
			h := handler.Func(func(ctx context.Context, m *handler.Message) error {
				runs++
				errs := map[int]error{1: fault.Retryable(errOdd), 2: fault.Permanent(errOdd)}
				if handler.FromContext(ctx) != m {
					return errs[runs]
				}
				handler.Go(ctx, func(context.Context) error { return errs[runs] })
				return nil
			})
			ids := handle(t, newProcessor(h, o), record("m1", "x"))
			if len(ids) != 0 || runs != 2 || len(q.letters) != 1 {
				t.Errorf("%d runs, reported %v, dead %v", runs, ids, q.dead())
			}
		})
	}
}
