package handler_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
)

// remembered are options with a ledger, whose store may be broken.
func remembered(store idem.Store) handler.Options {
	return handler.Options{Ledger: must(idem.New(store, &idem.Options{Logger: noLog}))}
}

func ExampleOutcome_done() {
	try(handler.Options{}, "fine")
	// Output: m1 at 0s, receive 1: done
}

func ExampleOutcome_duplicate() {
	q := handlertest.Queue{Handler: handler.Func(job), Options: remembered(idem.NewMemory())}
	fmt.Print(q.Run(new(testing.T), handlertest.Message{Copies: []time.Duration{time.Minute}}))
	// Output:
	// m1 at 0s, receive 1: done
	// m1 at 1m0s, receive 2: duplicate (completed)
}

func ExampleOutcome_retry() {
	try(handler.Options{MaxReceives: 2}, "busy")
	// Output:
	// m1 at 0s, receive 1: retry (unavailable), back in 1s: provider is busy
	// m1 at 1s, receive 2: dead (max_receives): provider is busy
}

func ExampleOutcome_busy() {
	q := handlertest.Queue{
		Handler: handler.Func(func(ctx context.Context, m *handler.Message) error {
			if m.ReceiveCount() == 1 {
				handlertest.Kill(ctx) // its claim is left behind, for what was left of 30 s
			}
			return nil
		}),
		Options: remembered(idem.NewMemory()), Visibility: 20 * time.Second,
	}
	report := q.Run(new(testing.T), handlertest.Message{})
	outcomes := report.Job("m1").Outcomes()
	fmt.Println(len(outcomes), outcomes[0], outcomes[1], outcomes[2])
	// Output: 3 none busy done
}

// forgetful is a store that takes claims, but not their ends.
type forgetful struct{ *idem.Memory }

func (forgetful) Settle(context.Context, idem.Claim, idem.Settlement) error {
	return errors.New("table is gone")
}

func ExampleOutcome_unrecorded() {
	q := handlertest.Queue{Handler: handler.Func(job), Options: remembered(forgetful{idem.NewMemory()})}
	report := q.Run(new(testing.T), handlertest.Message{})
	fmt.Println(report.Job("m1").Outcomes()[0])
	// Output: unrecorded
}

func ExampleOutcome_dead() {
	try(handler.Options{}, "refused")
	// Output: m1 at 0s, receive 1: dead (no_user): no such user
}

func ExampleOutcome_dropped() {
	try(handler.Options{Drop: []string{"no_user"}}, "refused")
	// Output: m1 at 0s, receive 1: dropped (no_user): no such user
}

func ExampleOutcome_deferred() {
	q := handlertest.Queue{Name: "stock.fifo", Handler: handler.Func(job), Options: handler.Options{MaxReceives: 2}}
	fmt.Print(q.Run(new(testing.T),
		handlertest.Message{ID: "head", Group: "a", Body: "busy"}, handlertest.Message{ID: "tail", Group: "a"}))
	// Output:
	// head at 0s, receive 1: retry (unavailable), back in 1s: provider is busy
	// tail at 0s, receive 1: deferred (group_head), back in 1s
	// head at 1s, receive 2: dead (max_receives): provider is busy
	// tail at 1s, receive 2: done
}

func ExampleOutcome_crash() {
	q := handlertest.Queue{Handler: handler.Func(job), Options: remembered(idem.NewMemory()), Visibility: time.Minute}
	for _, d := range q.Run(new(testing.T), handlertest.Message{Body: "panic"}).Deliveries {
		fmt.Println(d.At, d.Outcome, d.Reason)
	}
	// Output:
	// 0s crash panic
	// 1m0s crash panic
	// 2m0s dead crash_loop
}
