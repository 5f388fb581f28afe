package handler_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

func TestLettersAreSentWhileAllOfTheirClaimsHold(t *testing.T) {
	t.Parallel()
	// The shortest is less than what a call may take without a lease.
	for _, leases := range [][]string{{"7s", "20s", "5m"}, {"5m", "20s", "7s"}, {"20s", "7s", "5m"}} {
		inBubble(t, fmt.Sprint(leases), func(t *testing.T) {
			q := newQueues()
			var left time.Duration
			q.onSend = func(ctx context.Context) {
				end, _ := ctx.Deadline()
				left = time.Until(end)
			}
			o := q.options()
			ledger := newLedger(newTrace())
			ledger.letterLease = func(m *handler.Message) time.Duration {
				lease, _ := time.ParseDuration(m.MessageId)
				return lease
			}
			o.Ledger = ledger
			p := newProcessor(byBody(script), o)
			ids := handle(t, p, record(leases[0], "permanent"), record(leases[1], "permanent"), record(leases[2], "permanent"))
			if len(ids) != 0 || !cmp.Equal(q.packs, []int{3}) {
				t.Errorf("reported %v, packs %v; want one of 3", ids, q.packs)
			}
			if want := 7 * time.Second; left != want {
				t.Errorf("the call may take %v, want %v", left, want)
			}
		})
	}
}

// E2: a suspect of another batch does not get the process between a job's death and its
// letter, however long the letter takes.
func TestASuspectWaitsForTheLettersOfOtherBatches(t *testing.T) {
	t.Parallel()
	for _, fifo := range []bool{false, true} {
		inBubble(t, fmt.Sprint(fifo), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives = 5*time.Minute, 10
			s.onSend = func(context.Context) { <-time.After(3 * time.Second); s.note("letter sent") }
			s.ledger.settleTime = time.Second // the verdict
			s.ledger.confirm = func(context.Context, string) error {
				<-time.After(time.Second)
				s.note("letter confirmed")
				return nil
			}
			dies := received(10, record("m1", "1s permanent"))
			if fifo {
				dies = grouped("g", dies)
			}
			p := s.processor()
			var both sync.WaitGroup
			both.Go(func() {
				<-time.After(500 * time.Millisecond) // m1 is running by then
				if ids := s.runIn(t, p, record("s1", "suspect 45s")); len(ids) != 0 {
					t.Errorf("the suspect came back: %s", s.outcomeOf(t, "s1", "reason"))
				}
			})
			if ids := s.runIn(t, p, dies); len(ids) != 0 || len(s.letters) != 1 {
				t.Errorf("reported %v, letters %v", ids, s.dead())
			}
			both.Wait()
			s.before(t, "letter confirmed", "s1")
		})
	}
}

// What is only taken to its verdict is that since the batch was cancelled.
func TestAVerdictOutlivesTheCancellation(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, 30 * time.Second} {
		inBubble(t, timeout.String(), func(t *testing.T) {
			s := newScene()
			s.timeout, s.options.MaxReceives = timeout, 3
			ctx, cancel := s.context(t)
			cancel()
			s.ledger.on = func(ctx context.Context, call string, _ *handler.Message) {
				if ctx.Err() != nil {
					t.Errorf("the context of %s has ended: %v", call, ctx.Err())
				}
			}
			response, err := s.processor().Handle(ctx, event(received(3, record("m1", "x"))))
			if err != nil || len(response.BatchItemFailures) != 0 || len(s.letters) != 1 {
				t.Errorf("reported %v, %v, letters %v", response.BatchItemFailures, err, s.dead())
			}
			s.before(t, "claim m1", "verdict m1")
		})
	}
}
