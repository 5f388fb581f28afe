package worker_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/worker"
)

type parcel struct {
	ID string `json:"id"`
}

// A worker for a program that wires its processor itself. Most only need Start.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	client := sqs.NewFromConfig(localtest.Config(localaws.New(nil))) // or that of the SDK's config package
	queue, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("parcels")})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: queue.QueueUrl, MessageBody: aws.String(`{"id":"p-1"}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	quiet := slog.New(slog.DiscardHandler)
	w := worker.New(client, &worker.Options{QueueURL: *queue.QueueUrl, Logger: quiet})
	ship := func(_ context.Context, p parcel) error {
		fmt.Println("shipped", p.ID)
		stop() // in a program, a signal does
		return nil
	}
	err = w.Run(ctx, handler.NewProcessor(handler.JSON(ship), &handler.Options{Source: w.Source(), Logger: quiet}))
	fmt.Println("exit code", worker.ExitCode(err))
	// Output:
	// shipped p-1
	// exit code 0
}

// Start is all that a main needs; its settings come from the environment.
func ExampleStart() {
	worker.Start(func(_ context.Context, p parcel) error {
		fmt.Println("shipping", p.ID)
		return nil
	})
}
