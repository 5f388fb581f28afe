package handler_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// What fails before the claim has nobody that counts its attempts: its receives are no
// attempts, since most of them may have been deferrals. So it is dead at the last receive
// only, or where that is unknown, at the thirtieth.
func TestAnErrorBeforeTheClaimUsesNoBudget(t *testing.T) {
	t.Parallel()
	busy := fault.Retryable(errOdd, fault.WithReason("busy"))
	environment := fault.Retryable(errOdd, fault.WithReason(fault.ReasonEnvironment))
	for _, tt := range []struct {
		err               error
		receives, most    int
		ledger            bool
		outcome, byReason string
	}{
		{busy, 9, 30, true, "retry", "busy"},
		{busy, 29, 30, true, "retry", "busy"},
		{busy, 30, 30, true, "dead", handler.ReasonMaxReceives},
		{busy, 29, 0, true, "retry", "busy"},
		{busy, 30, 0, true, "dead", handler.ReasonMaxReceives},
		{environment, 1000, 0, true, "retry", fault.ReasonEnvironment},
		{environment, 30, 30, true, "dead", handler.ReasonMaxReceives},
		// Without a ledger only the receives are known, so that deferrals count too.
		{busy, 7, 30, false, "retry", "busy"},
		{busy, 8, 30, false, "dead", handler.ReasonExhausted},
	} {
		for _, where := range []string{"Prepare", "key function"} {
			if where == "key function" && !tt.ledger {
				continue
			}
			t.Run(fmt.Sprint(where, tt), func(t *testing.T) {
				t.Parallel()
				q := newQueues()
				o := q.options()
				o.MaxReceives = tt.most
				h := handler.Handler(prepares{look: fails(tt.err)})
				keys := &idem.Options{Logger: noLog}
				if where == "key function" {
					h = handler.Func(fails(nil))
					keys.Key = func(context.Context, *handler.Message) (string, error) { return "", tt.err }
				}
				if tt.ledger {
					o.Ledger = must(idem.New(idem.NewMemory(), keys))
				}
				handle(t, newProcessor(h, o), received(tt.receives, record("m1", "x")))
				got := []string{q.outcomeOf(t, "m1", "outcome"), q.outcomeOf(t, "m1", "reason")}
				if !slices.Equal(got, []string{tt.outcome, tt.byReason}) {
					t.Errorf("got %v, want %s %s", got, tt.outcome, tt.byReason)
				}
				if tt.outcome == "dead" && (len(q.letters) != 1 || tt.ledger && q.letters[0].Failure.Attempts != 0) {
					t.Errorf("letters %+v", q.letters)
				}
			})
		}
	}
}

// Before the claim LastAttempt knows of the last receive only.
func TestLastAttemptBeforeTheClaim(t *testing.T) {
	t.Parallel()
	for receives, want := range map[int]bool{8: false, 9: false, 10: true} {
		o := newQueues().options()
		o.MaxReceives, o.Ledger = 10, newLedger(newTrace())
		look := func(_ context.Context, m *handler.Message) error {
			if m.LastAttempt() != want {
				t.Errorf("receive %d: %v, want %v", receives, m.LastAttempt(), want)
			}
			return nil
		}
		handle(t, newProcessor(prepares{look: look}, o), received(receives, record("m1", "x")))
	}
}

// A decision that user code makes itself is no way to the redrive policy of the queue
// without a record.
func TestADecisionOfUserCodeAtTheLastReceive(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]error{
		"Defer":                 handler.Defer("quota", time.Minute),
		"retry":                 &handler.Result{Outcome: handler.OutcomeRetry, Delay: time.Second, Err: errOdd},
		"retry without a cause": &handler.Result{Outcome: handler.OutcomeRetry, Decision: fault.Decision{Reason: "later"}},
	} {
		for _, where := range []string{"Prepare", "function"} {
			for receives, want := range map[int]string{9: "", 10: "dead"} {
				t.Run(fmt.Sprint(name, where, receives), func(t *testing.T) {
					t.Parallel()
					s := newScene()
					s.options.MaxReceives, s.options.Backoff = 10, backoff.Exponential{MaxAttempts: 2}
					h := prepares{look: fails(nil), run: fails(says)}
					if where == "Prepare" {
						h = prepares{look: fails(says)}
					}
					back := s.runIn(t, newProcessor(h, s.options), received(receives, record("m1", "x")))
					if got := s.outcomeOf(t, "m1", "outcome"); (got == "dead") != (want == "dead") || len(back)+len(s.letters) != 1 {
						t.Errorf("%s, reported %v, %d letters", got, back, len(s.letters))
					}
					if want == "dead" && s.letters[0].Failure.Reason != handler.ReasonMaxReceives {
						t.Errorf("record %+v", s.letters[0].Failure)
					}
				})
			}
		}
	}
}
