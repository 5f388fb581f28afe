package handler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
)

var noLog = slog.New(slog.DiscardHandler)

// job does what its message's body says.
func job(ctx context.Context, m *handler.Message) error {
	switch m.Body {
	case "busy":
		return fault.Retryable(errors.New("provider is busy"), fault.WithReason(fault.ReasonUnavailable))
	case "refused":
		return fault.Permanent(errors.New("no such user"), fault.WithReason("no_user"))
	case "odd":
		return errors.New("error 42")
	case "panic":
		panic("index out of range")
	case "slow":
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// try runs job for messages with these bodies, until their queue is empty, and
// prints what became of them.
func try(o handler.Options, bodies ...string) {
	var messages []handlertest.Message
	for _, body := range bodies {
		messages = append(messages, handlertest.Message{Body: body})
	}
	fmt.Print(handlertest.Queue{Handler: handler.Func(job), Options: o}.Run(new(testing.T), messages...))
}

func ExampleOptions_middleware() {
	timed := func(next handler.Func) handler.Func {
		return func(ctx context.Context, m *handler.Message) error {
			fmt.Println("before", m.MessageId)
			defer fmt.Println("after", m.MessageId)
			return next(ctx, m)
		}
	}
	try(handler.Options{Middleware: []handler.Middleware{timed}}, "fine")
	// Output:
	// before m1
	// after m1
	// m1 at 0s, receive 1: done
}

func ExampleOptions_deadLetter() {
	dead := &handlertest.DeadLetterQueue{}
	p := must(handler.NewProcessor(handler.Func(job), &handler.Options{DeadLetter: dead, Logger: noLog}))
	_, _ = p.Handle(context.Background(), handlertest.Event(handlertest.Message{Body: "refused"}))
	for _, letter := range dead.Letters() {
		fmt.Println(letter.Message.Body, letter.Failure.Class, letter.Failure.Reason, letter.Failure.Message)
	}
	// Output: refused permanent no_user no such user
}

func ExampleOptions_queue() {
	source := &handlertest.FakeQueue{}
	shortest := func() float64 { return 0 }
	p := must(handler.NewProcessor(handler.Func(job), &handler.Options{Queue: source, Random: shortest, Logger: noLog}))
	_, _ = p.Handle(context.Background(), handlertest.Event(handlertest.Message{Body: "busy"}))
	for _, change := range source.Changes() {
		fmt.Println(change.Message.MessageId, "is hidden for", change.Timeout)
	}
	// Output: m1 is hidden for 1s
}

// cautious is a Classifier that knows one error more.
type cautious struct{ handler.Classifier }

func (c cautious) Classify(ctx context.Context, err error) fault.Decision {
	if err.Error() == "error 42" {
		return fault.Decision{Class: fault.ClassPermanent, Reason: "error_42", Rule: "ours.42"}
	}
	return c.Classifier.Classify(ctx, err)
}

func ExampleOptions_classifier() {
	try(handler.Options{Classifier: cautious{fault.Rules()}}, "odd")
	// Output: m1 at 0s, receive 1: dead (error_42): error 42
}

func ExampleOptions_backoff() {
	try(handler.Options{Backoff: backoff.Exponential{MaxAttempts: 3}}, "busy")
	// Output:
	// m1 at 0s, receive 1: retry (unavailable), back in 1s: provider is busy
	// m1 at 1s, receive 2: retry (unavailable), back in 2s: provider is busy
	// m1 at 3s, receive 3: dead (exhausted): provider is busy
}

func ExampleOptions_unclassifiedAttempts() {
	try(handler.Options{UnclassifiedAttempts: 2}, "odd")
	// Output:
	// m1 at 0s, receive 1: retry (unclassified), back in 1s: error 42
	// m1 at 1s, receive 2: dead (unclassified): error 42
}

func ExampleOptions_maxReceives() {
	try(handler.Options{MaxReceives: 2}, "busy")
	// Output:
	// m1 at 0s, receive 1: retry (unavailable), back in 1s: provider is busy
	// m1 at 1s, receive 2: dead (max_receives): provider is busy
}

func ExampleOptions_concurrency() {
	for _, concurrency := range []int{1, 3} {
		q := handlertest.Queue{
			Handler: handler.Func(func(context.Context, *handler.Message) error {
				<-time.After(5 * time.Second)
				return nil
			}),
			Options: handler.Options{Concurrency: concurrency},
		}
		report := q.Run(new(testing.T), handlertest.Message{}, handlertest.Message{}, handlertest.Message{})
		fmt.Println("the last is done after", report.Job("m3").Deliveries[0].Took)
	}
	// Output:
	// the last is done after 15s
	// the last is done after 5s
}

func ExampleOptions_breaker() {
	o := handler.Options{Breaker: 2}
	busy := handlertest.Message{Body: "busy"}
	report := handlertest.Queue{Handler: handler.Func(job), Options: o}.Invoke(new(testing.T), busy, busy, busy, busy)
	for _, d := range report.Deliveries {
		fmt.Println(d.Outcome, d.Reason)
	}
	// Output:
	// retry unavailable
	// retry unavailable
	// retry unavailable
	// deferred breaker
}

func ExampleOptions_ledger() {
	ledger := must(idem.New(idem.NewMemory(), nil))
	q := handlertest.Queue{Handler: handler.Func(job), Options: handler.Options{Ledger: ledger}}
	fmt.Print(q.Run(new(testing.T), handlertest.Message{Copies: []time.Duration{time.Minute}}))
	// Output:
	// m1 at 0s, receive 1: done
	// m1 at 1m0s, receive 2: duplicate (completed)
}

// slowStore is a store whose writes of a result take a second.
type slowStore struct{ *idem.Memory }

func (s slowStore) Settle(ctx context.Context, c idem.Claim, end idem.Settlement) error {
	<-time.After(time.Second)
	return s.Memory.Settle(ctx, c, end)
}

func ExampleOptions_awaitSettle() {
	synctest.Test(new(testing.T), func(*testing.T) {
		for _, await := range []bool{false, true} {
			ledger := must(idem.New(slowStore{idem.NewMemory()}, nil))
			o := &handler.Options{Ledger: ledger, AwaitSettle: await, Logger: noLog}
			begin, last := time.Now(), time.Time{}
			p := must(handler.NewProcessor(handler.Func(func(context.Context, *handler.Message) error {
				last = time.Now()
				return nil
			}), o))
			_, _ = p.Handle(context.Background(), handlertest.Event(make([]handlertest.Message, 3)...))
			fmt.Println("the third starts after", last.Sub(begin))
		}
	})
	// Output:
	// the third starts after 0s
	// the third starts after 2s
}

func ExampleOptions_backoffByReason() {
	try(handler.Options{
		Backoff: backoff.Exponential{MaxAttempts: 2},
		BackoffByReason: map[string]handler.Backoff{
			fault.ReasonUnavailable: backoff.Stepped{Steps: []time.Duration{time.Minute}, MaxAttempts: 2},
		},
	}, "busy", "odd")
	// Output:
	// m1 at 0s, receive 1: retry (unavailable), back in 1m0s: provider is busy
	// m2 at 0s, receive 1: retry (unclassified), back in 1s: error 42
	// m2 at 1s, receive 2: dead (exhausted): error 42
	// m1 at 1m0s, receive 2: dead (exhausted): provider is busy
}

func ExampleOptions_drop() {
	try(handler.Options{Drop: []string{"no_user"}}, "refused")
	// Output: m1 at 0s, receive 1: dropped (no_user): no such user
}

// excerpts prints what the lines of dead letters show of payloads.
func excerpts(o handler.Options, body string) {
	o.Logger = slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == "excerpt" || a.Key == slog.MessageKey {
				return a
			}
			return slog.Attr{}
		},
	}))
	o.DeadLetter = &handlertest.DeadLetterQueue{}
	must(handler.NewProcessor(handler.Func(func(context.Context, *handler.Message) error {
		return fault.Permanent(errors.New("no"))
	}), &o)).Handle(context.Background(), handlertest.Event(handlertest.Message{Body: body}))
}

func ExampleOptions_excerptBytes() {
	excerpts(handler.Options{ExcerptBytes: 13}, `{"id": "ch-1", "card": "4111 1111"}`)
	// Output:
	// msg=outcome
	// msg=dead-lettered excerpt="{\"id\": \"ch-1\""
}

func ExampleOptions_redact() {
	card := regexp.MustCompile(`"card": "[^"]*"`)
	excerpts(handler.Options{Redact: func(m *handler.Message) string {
		return card.ReplaceAllString(m.Content(), `"card": "…"`)
	}}, `{"id": "ch-1", "card": "4111 1111"}`)
	// Output:
	// msg=outcome
	// msg=dead-lettered excerpt="{\"id\": \"ch-1\", \"card\": \"…\"}"
}

func ExampleOptions_panicAsPermanent() {
	try(handler.Options{PanicAsPermanent: true}, "panic", "fine")
	// Output:
	// m1 at 0s, receive 1: dead (panic): panic: index out of range
	// m2 at 0s, receive 1: done
}

func ExampleOptions_hooks() {
	try(handler.Options{Hooks: handler.Hooks{
		OnError: func(_ context.Context, m *handler.Message, r *handler.Result) {
			fmt.Println("error:", m.MessageId, r)
		},
		OnDead: func(_ context.Context, letter handler.Letter, deadLetterID string) {
			fmt.Println("dead:", letter.Message.MessageId, "as", deadLetterID)
		},
		OnBatch: func(_ context.Context, r handler.Report) {
			fmt.Println("batch:", r.Messages, "messages,", r.Runs, "runs,", r.Sent, "sent")
		},
	}}, "fine", "refused")
	// Output:
	// error: m2 dead (no_user): no such user
	// dead: m2 as dead-m2
	// batch: 2 messages, 2 runs, 1 sent
	// m1 at 0s, receive 1: done
	// m2 at 0s, receive 1: dead (no_user): no such user
}

func ExampleOptions_restore() {
	// Package dlq has the one for its own dead letters.
	try(handler.Options{Restore: func(m *handler.Message) { m.Body = "fine" }}, "refused")
	// Output: m1 at 0s, receive 1: done
}

func ExampleOptions_reserve() {
	for _, reserve := range []time.Duration{0, 10 * time.Second} {
		q := handlertest.Queue{Handler: handler.Func(job), Options: handler.Options{Reserve: reserve}}
		report := q.Run(new(testing.T), handlertest.Message{Body: "slow", Receives: 7})
		fmt.Println("of 30s a message has", report.Job("m1").Deliveries[0].Took)
	}
	// Output:
	// of 30s a message has 27s
	// of 30s a message has 20s
}

func ExampleOptions_instrument() {
	counted := func(o *handler.Options) {
		send := o.DeadLetter
		o.DeadLetter = counting{send}
	}
	try(handler.Options{Instrument: counted}, "refused")
	// Output:
	// letters: 1
	// m1 at 0s, receive 1: dead (no_user): no such user
}

// counting counts the letters of another.
type counting struct{ handler.DeadLetter }

func (c counting) Send(ctx context.Context, letters []handler.Letter) {
	fmt.Println("letters:", len(letters))
	c.DeadLetter.Send(ctx, letters)
}

func ExampleOptions_begin() {
	type tenant struct{}
	begin := func(ctx context.Context, records []events.SQSMessage) context.Context {
		return context.WithValue(ctx, tenant{}, fmt.Sprint("tenant of ", len(records)))
	}
	h := handler.Func(func(ctx context.Context, _ *handler.Message) error {
		fmt.Println(ctx.Value(tenant{}))
		return nil
	})
	q := handlertest.Queue{Handler: h, Options: handler.Options{Begin: begin, Logger: noLog}}
	q.Invoke(new(testing.T), handlertest.Message{Body: "fine"})
	// Output:
	// tenant of 1
}

func ExampleOptions_logger() {
	less := func(_ []string, a slog.Attr) slog.Attr {
		if slices.Contains([]string{slog.TimeKey, "messageId", "queue", "receiveCount", "class", "rule"}, a.Key) {
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: less}))
	q := handlertest.Queue{Handler: handler.Func(job), Options: handler.Options{Logger: logger}}
	q.Invoke(new(testing.T), handlertest.Message{Body: "busy"})
	// Output:
	// level=INFO msg=outcome outcome=retry reason=unavailable attempt=1 delaySeconds=1 error="provider is busy"
}

func ExampleOptions_random() {
	for _, n := range []float64{0, 0.999} {
		o := handler.Options{Random: func() float64 { return n }, Backoff: backoff.Exponential{Base: 100 * time.Second}}
		q := handlertest.Queue{Handler: handler.Func(job), Options: o}
		report := q.Invoke(new(testing.T), handlertest.Message{Body: "busy"})
		fmt.Println(report.Deliveries[0].Delay)
	}
	// Output:
	// 1m40s
	// 1m59s
}
