package idem_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// A payload that is delivered three times is charged once.
func ExampleNew() {
	charge := func(ctx context.Context, _ *handler.Message) error {
		fmt.Println("charging", idem.Key(ctx))
		return nil
	}
	ledger, err := idem.New(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")})
	if err != nil {
		fmt.Println(err)
	}
	p, err := handler.NewProcessor(handler.Func(charge), &handler.Options{
		Ledger: ledger, Hooks: handler.Hooks{OnBatch: printCounts}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
	}
	for _, id := range []string{"m1", "m1", "m2"} {
		m := message(id, `{"id":"ch-1","amount":1250}`)
		if _, err := p.Handle(context.Background(), event(m)); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// charging ch-1
	// 1 done
	// 1 duplicate (completed)
	// 1 duplicate (completed)
}

// event is a batch as Lambda hands it out.
func event(messages ...*handler.Message) (e events.SQSEvent) {
	for _, m := range messages {
		e.Records = append(e.Records, m.SQSMessage)
	}
	return e
}

// printCounts prints what became of the messages of a batch.
func printCounts(_ context.Context, r handler.Report) {
	for _, c := range r.Counts {
		if c.Reason != "" {
			fmt.Printf("%d %s (%s)\n", c.N, c.Outcome, c.Reason)
			continue
		}
		fmt.Println(c.N, c.Outcome)
	}
}

// processor is one with a ledger, for examples that are about something else.
func processor(store idem.Store, o *idem.Options, job handler.Func) *handler.Processor {
	own := idem.Options{}
	if o != nil {
		own = *o
	}
	own.Logger = slog.New(slog.DiscardHandler)
	ledger, err := idem.New(store, &own)
	if err != nil {
		panic(err)
	}
	p, err := handler.NewProcessor(job, &handler.Options{
		Ledger: ledger, Hooks: handler.Hooks{OnBatch: printCounts}, Logger: own.Logger, Restore: restore,
	})
	if err != nil {
		panic(err)
	}
	return p
}

// restore takes the record out of a message that was dead-lettered, as dlq.Restore
// does: the job died in its first epoch.
func restore(m *handler.Message) {
	if key, replayed := m.Attribute("replayOf"); replayed {
		m.Replay = &handler.Replay{Key: key, Verdict: true}
	}
}

// deliver hands out one message, and prints what becomes of it.
func deliver(p *handler.Processor, m *handler.Message) {
	if _, err := p.Handle(context.Background(), event(m)); err != nil {
		fmt.Println(err)
	}
}

func ExampleJSONField() {
	key := idem.JSONField("order.id")
	fmt.Println(key(context.Background(), message("m1", `{"order":{"id":"o-7"}}`)))
	fmt.Println(key(context.Background(), message("m2", `{"order":{}}`)))
	// Output:
	// o-7 <nil>
	//  idempotency key "order.id": the payload does not have it
}

// The producer writes the time of each sending into the payload. Without a selection
// the second sending would be a key_conflict.
func ExampleHashFields() {
	for _, hash := range []idem.Hash{{}, idem.HashFields("id", "amount"), idem.HashNothing()} {
		o := &idem.Options{Key: idem.JSONField("id"), Hash: hash}
		p := processor(idem.NewMemory(), o, func(context.Context, *handler.Message) error { return nil })
		deliver(p, message("m1", `{"id":"ch-1","amount":1250,"sent":"12:00"}`))
		deliver(p, message("m2", `{"id":"ch-1","amount":1250,"sent":"12:05"}`))
		deliver(p, message("m3", `{"id":"ch-1","amount":9999,"sent":"12:07"}`))
		fmt.Println()
	}
	// Output:
	// 1 done
	// 1 dead (key_conflict)
	// 1 dead (key_conflict)
	//
	// 1 done
	// 1 duplicate (completed)
	// 1 dead (key_conflict)
	//
	// 1 done
	// 1 duplicate (completed)
	// 1 duplicate (completed)
}
