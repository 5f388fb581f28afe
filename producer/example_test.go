package producer_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/producer"
)

// Charge is a payload.
type Charge struct {
	ID     string `json:"id"`
	Amount int    `json:"amount"`
}

func Example() {
	ctx := context.Background()
	// In a program: sqs.NewFromConfig of the configuration that config.LoadDefaultConfig returns.
	client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
	queue, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("charges")})
	if err != nil {
		fmt.Println(err)
		return
	}
	charges, err := producer.New(client, *queue.QueueUrl, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	sent, err := charges.Send(ctx,
		producer.Job{Key: "ch-1", Payload: Charge{ID: "ch-1", Amount: 1250}, Group: "tenant-7"},
		producer.Job{Key: "ch-2", Payload: Charge{ID: "ch-2", Amount: 900}, Group: "tenant-8"},
	)
	fmt.Println(len(sent), "sent,", err)

	_, err = charges.Send(ctx, producer.Job{Key: "ch-3"})
	fmt.Println(err)
	// Output:
	// 2 sent, <nil>
	// job 1 (key "ch-3"): the body is empty; SQS takes messages of at least one character
}
