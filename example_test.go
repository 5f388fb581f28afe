package sqsafe_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/queue"
)

type Parcel struct {
	ID string `json:"id"`
}

func ship(_ context.Context, p Parcel) error {
	fmt.Println("shipping", p.ID)
	if p.ID == "p-2" {
		return fault.Retryable(errors.New("the shipping service is busy"))
	}
	return nil
}

// A function's whole main: the rest comes from the template.
func ExampleStart() {
	sqsafe.Start(ship, sqsafe.KeyField("id"))
}

// The parts can be put together by hand. Here idempotency is kept in memory, and
// what fails is left to the queue.
func Example() {
	ledger, err := idem.New(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")})
	if err != nil {
		log.Fatal(err)
	}
	p, err := handler.NewProcessor(handler.JSON(ship), &handler.Options{
		Ledger: ledger,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	response, err := p.Handle(context.Background(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "m1", Body: `{"id":"p-1"}`},
		{MessageId: "m2", Body: `{"id":"p-2"}`},
		{MessageId: "m3", Body: `{"id":"p-1"}`},
	}})
	fmt.Println("to come back:", response.BatchItemFailures, err)
	// Unordered output:
	// shipping p-1
	// shipping p-2
	// to come back: [{m2}] <nil>
}

// With clients of one's own, this is what Start does.
func ExampleStart_byHand() {
	cfg := aws.Config{Region: os.Getenv("AWS_REGION")} // or that of the SDK's config package
	queues := sqs.NewFromConfig(cfg)
	store := dynamo.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE"), nil)
	ledger, err := idem.New(store, &idem.Options{Key: idem.JSONField("id")})
	if err != nil {
		log.Fatal(err)
	}
	sender, err := dlq.NewSender(queues, os.Getenv("DEAD_LETTER_QUEUE_URL"), nil)
	if err != nil {
		log.Fatal(err)
	}
	source, err := queue.New(queues, nil)
	if err != nil {
		log.Fatal(err)
	}
	p, err := handler.NewProcessor(handler.JSON(ship), &handler.Options{
		Restore:     dlq.Restore,
		Ledger:      ledger,
		DeadLetter:  sender,
		Queue:       source,
		Backoff:     backoff.Exponential{MaxAttempts: 5},
		MaxReceives: 30,
	})
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(p)
}
