package handlertest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
)

type Charge struct {
	ID     string `json:"id"`
	Amount int64  `json:"amount"`
}

// A user's own test: a charge that the provider refuses once is made once, though
// SQS delivers it twice.
func TestChargeOnce(t *testing.T) {
	t.Parallel()
	answers := []error{fault.Retryable(errors.New("busy")), nil}
	charge := func(context.Context, Charge) (err error) { err, answers = answers[0], answers[1:]; return err }
	once, err := idem.New(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")})
	if err != nil {
		t.Fatal(err)
	}
	q := handlertest.Queue{Handler: handler.JSON(charge), Options: handler.Options{Ledger: once}}
	job := handlertest.Message{Body: `{"id": "ch-1", "amount": 1250}`, Copies: []time.Duration{time.Minute}}
	report := q.Run(t, job)
	report.RequireOutcomes(t, "m1", handler.OutcomeRetry, handler.OutcomeDone, handler.OutcomeDuplicate)
}

func charge(_ context.Context, c Charge) error {
	if c.Amount <= 0 {
		return fault.Permanent(errors.New("nothing to charge"), fault.WithReason("no_amount"))
	}
	return nil
}

func Example() {
	t := new(testing.T) // in a test, the one that it is given
	q := handlertest.Queue{Handler: handler.JSON(charge)}
	report := q.Run(t,
		handlertest.Message{Body: `{"id": "ch-1", "amount": 1250}`},
		handlertest.Message{Body: `{"id": "ch-2"}`},
	)
	fmt.Print(report)
	// Output:
	// m1 at 0s, receive 1: done
	// m2 at 0s, receive 1: dead (no_amount): nothing to charge
}

func ExampleQueue_Run() {
	t := new(testing.T) // in a test, the one that it is given
	q := handlertest.Queue{
		Handler: handler.Func(func(_ context.Context, m *handler.Message) error {
			if m.ReceiveCount() < 3 {
				return fault.Retryable(errors.New("provider is busy"))
			}
			return nil
		}),
	}
	fmt.Print(q.Run(t, handlertest.Message{ID: "ch-1"}))
	// Output:
	// ch-1 at 0s, receive 1: retry (tagged), back in 1s: provider is busy
	// ch-1 at 1s, receive 2: retry (tagged), back in 2s: provider is busy
	// ch-1 at 3s, receive 3: done
}

func ExampleQueue_Invoke() {
	t := new(testing.T) // in a test, the one that it is given
	q := handlertest.Queue{Handler: handler.JSON(charge)}
	report := q.Invoke(t, handlertest.Message{Body: "hello"})
	letter := report.RequireDeadLetter(t, "m1", fault.ReasonDecode)
	fmt.Println(letter.Message.Body, "-", letter.Failure.Message)
	// Output: hello - decode: body is not JSON: invalid character 'h' looking for beginning of value
}

func ExampleKill() {
	t := new(testing.T) // in a test, the one that it is given
	effects := 0
	q := handlertest.Queue{
		Handler: handler.Func(func(ctx context.Context, m *handler.Message) error {
			effects++
			if m.ReceiveCount() == 1 {
				handlertest.Kill(ctx) // after the effect, before anything could record it
			}
			return nil
		}),
	}
	fmt.Print(q.Run(t, handlertest.Message{}))
	fmt.Println(effects, "effects")
	// Output:
	// m1 at 0s, receive 1: killed
	// m1 at 3m0s, receive 2: done
	// 2 effects
}

func ExampleReplayed() {
	t := new(testing.T) // in a test, the one that it is given
	ledger, err := idem.New(idem.NewMemory(), nil)
	if err != nil {
		panic(err)
	}
	broken := true
	q := handlertest.Queue{
		Handler: handler.Func(func(context.Context, *handler.Message) error {
			if broken {
				return fault.Permanent(errors.New("no such template"))
			}
			return nil
		}),
		Options: handler.Options{Ledger: ledger},
	}
	letter := q.Run(t, handlertest.Message{}).RequireDeadLetter(t, "m1", fault.ReasonTagged)
	broken = false
	fmt.Print(q.Run(t, handlertest.Replayed(letter)))
	// Output: m1-replay at 0s, receive 1: done
}

func ExampleEvent() {
	p, err := handler.NewProcessor(handler.JSON(charge), &handler.Options{Logger: quiet()})
	if err != nil {
		panic(err)
	}
	event := handlertest.Event(
		handlertest.Message{Body: `{"id": "ch-1", "amount": 1250}`}, handlertest.Message{Body: "{}"},
	)
	response, err := p.Handle(context.Background(), event)
	fmt.Println(response.BatchItemFailures, err) // no dead-letter queue: it is left to the redrive policy
	// Output: [{m2}] <nil>
}

func ExampleMessage_Received() {
	m := handlertest.Message{Group: "tenant-1", Receives: 3, Attributes: map[string]any{"priority": 2}}.Received()
	priority, _ := m.Attribute("priority")
	fmt.Println(m.GroupID(), m.ReceiveCount(), priority)
	// Output: tenant-1 3 2
}

func ExampleMessage_Record() {
	r := handlertest.Message{ID: "ch-1", Queue: "charges.fifo"}.Record()
	fmt.Println(r.MessageId, r.EventSourceARN)
	// Output: ch-1 arn:aws:sqs:eu-west-1:123456789012:charges.fifo
}

func ExampleDeadLetterQueue() {
	dead := &handlertest.DeadLetterQueue{
		Fail: func(handler.Letter) error { return errors.New("access denied") },
	}
	p, err := handler.NewProcessor(handler.JSON(charge), &handler.Options{DeadLetter: dead, Logger: quiet()})
	if err != nil {
		panic(err)
	}
	response, _ := p.Handle(context.Background(), handlertest.Event(handlertest.Message{Body: "hello"}))
	fmt.Println(len(dead.Letters()), "letters, comes back:", response.BatchItemFailures)
	// Output: 0 letters, comes back: [{m1}]
}

func ExampleFakeQueue() {
	source := &handlertest.FakeQueue{}
	busy := handler.Func(func(context.Context, *handler.Message) error {
		return fault.RetryAfter(time.Minute, errors.New("busy"))
	})
	p, err := handler.NewProcessor(busy, &handler.Options{
		Queue: source, Logger: quiet(), Random: func() float64 { return 0 },
	})
	if err != nil {
		panic(err)
	}
	_, _ = p.Handle(context.Background(), handlertest.Event(handlertest.Message{}))
	for _, change := range source.Changes() {
		fmt.Println(change.Message.MessageId, change.Timeout)
	}
	// Output: m1 1m0s
}
