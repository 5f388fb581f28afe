package eventsource_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
	queue, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("jobs")})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: queue.QueueUrl, MessageBody: aws.String(`{"id":"ch-1"}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	mapping := eventsource.Mapping{
		QueueURL:                *queue.QueueUrl,
		QueueARN:                localARN + "jobs",
		ReportBatchItemFailures: true,
	}
	poller := eventsource.New(client, answers(`{"batchItemFailures":[]}`), mapping, &eventsource.Options{
		Observe: func(e eventsource.Event) {
			fmt.Println(e.Kind, len(e.Messages))
			if e.Kind == eventsource.Deleted {
				stop()
			}
		},
	})
	fmt.Println(poller.Run(ctx))
	// Output:
	// received 1
	// invoked 1
	// deleted 1
	// <nil>
}
