package sqsafetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/sqsafetest"
)

type Charge struct {
	ID     string `json:"id"`
	Amount int64  `json:"amount"`
}

// Validate refuses what no attempt can correct: such a job is dead-lettered and does not run.
func (c Charge) Validate() error {
	if c.Amount <= 0 {
		return errors.New("an amount above 0 is required")
	}
	return nil
}

// options are what main gives to sqsafe.Start: sqsafe.Start(charge, options...).
var options = []sqsafe.Option{sqsafe.KeyField("id")}

// env is what template.yaml sets.
var env = sqsafetest.Env{
	"SQSAFE_MAX_ATTEMPTS": "3",
	"SQSAFE_MAX_RECEIVES": "30",
}

func charge(_ context.Context, c Charge) error {
	if c.Amount > 100_000 {
		return fault.Permanent(errors.New("over the limit"), fault.WithReason("over_limit"))
	}
	return nil
}

func Example() {
	t := new(testing.T) // in a test, the one that it is given
	q := sqsafetest.NewQueue(t, env, charge, options...)
	job := sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1250})
	job.Copies = []time.Duration{time.Minute} // SQS delivers it twice
	report := q.Run(t, job, sqsafetest.JSON(Charge{ID: "ch-2"}))
	report.RequireOutcomes(t, "m1", handler.OutcomeDone, handler.OutcomeDuplicate)
	report.RequireDeadLetter(t, "m2", fault.ReasonValidation)
	fmt.Print(report)
	// Output:
	// m1 at 0s, receive 1: done
	// m2 at 0s, receive 1: dead (validation): validate: an amount above 0 is required
	// m1 at 1m0s, receive 2: duplicate (completed)
}

// Attempts and delays are those of the environment. They take no time.
func ExampleQueue_Run() {
	t := new(testing.T) // in a test, the one that it is given
	q := sqsafetest.NewQueue(t, env, func(context.Context, Charge) error {
		return fault.Retryable(errors.New("busy"))
	}, options...)
	report := q.Run(t, sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1250}))
	fmt.Print(report)
	letter := report.RequireDeadLetter(t, "m1", handler.ReasonExhausted)
	fmt.Println(letter.Failure.Key, letter.Failure.Attempts, letter.Failure.Message)
	// Output:
	// m1 at 0s, receive 1: retry (tagged), back in 1s: busy
	// m1 at 1s, receive 2: retry (tagged), back in 2s: busy
	// m1 at 3s, receive 3: dead (exhausted): busy
	// ch-1 3 busy
}

// What a run leaves in the ledger is there in the next one. So a dead letter that is
// sent back runs again, and the same job from its producer is a duplicate.
func ExampleQueue_Run_replay() {
	t := new(testing.T) // in a test, the one that it is given
	broken := true
	q := sqsafetest.NewQueue(t, env, func(context.Context, Charge) error {
		if broken {
			return fault.Permanent(errors.New("no such account"), fault.WithReason("account"))
		}
		return nil
	}, options...)
	job := sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1250})
	letter := q.Run(t, job).RequireDeadLetter(t, "m1", "account")
	broken = false
	fmt.Print(q.Run(t, handlertest.Replayed(letter)))
	fmt.Print(q.Run(t, job))
	// Output:
	// m1-replay at 0s, receive 1: done
	// m3 at 0s, receive 1: duplicate (completed)
}

func ExampleQueue_Invoke() {
	t := new(testing.T) // in a test, the one that it is given
	q := sqsafetest.NewQueue(t, env, charge, options...)
	fmt.Print(q.Invoke(t, handlertest.Message{Body: "hello"}).Job("m1").Outcomes())
	// Output: [dead]
}

func ExampleQueue_RunRealTime() {
	t := new(testing.T) // in a test, the one that it is given
	q := sqsafetest.NewQueue(t, env, charge, options...)
	fmt.Print(q.RunRealTime(t, sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1})).Job("m1").Outcomes())
	// Output: [done]
}

// An event of a file or of a log.
func ExampleRecords() {
	t := new(testing.T) // in a test, the one that it is given
	var event events.SQSEvent
	err := json.Unmarshal([]byte(`{"Records": [{
		"messageId": "9b3c19b1",
		"body": "{\"id\": \"ch-1\", \"amount\": 1250}",
		"attributes": {"ApproximateReceiveCount": "2"},
		"eventSource": "aws:sqs"
	}]}`), &event)
	if err != nil {
		panic(err)
	}
	q := sqsafetest.NewQueue(t, env, charge, options...)
	fmt.Print(q.Run(t, sqsafetest.Records(event.Records...)...))
	// Output: 9b3c19b1 at 0s, receive 2: done
}

func ExampleSNS() {
	t := new(testing.T) // in a test, the one that it is given
	wrapped := func(o *sqsafe.Options) {
		o.Envelope = func(h handler.Handler) handler.Handler { return envelope.SNS(h, nil) }
	}
	q := sqsafetest.NewQueue(t, env, charge, append(options, wrapped)...)
	fmt.Print(q.Run(t, sqsafetest.SNS("", sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1250}))))
	// Output: m1 at 0s, receive 1: done
}

func ExampleEventBridge() {
	t := new(testing.T) // in a test, the one that it is given
	show := func(ctx context.Context, c Charge) error {
		event, _ := envelope.EventFrom(ctx)
		fmt.Println(event.DetailType, c.ID)
		return nil
	}
	wrapped := func(o *sqsafe.Options) { o.Envelope = envelope.EventBridge }
	q := sqsafetest.NewQueue(t, env, show, append(options, wrapped)...)
	message := sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1})
	q.Run(t, sqsafetest.EventBridge(envelope.Event{DetailType: "Charge Wanted"}, message))
	// Output: Charge Wanted ch-1
}
