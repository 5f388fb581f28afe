package awstest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/awstest"
)

func Example() {
	t := new(testing.T) // in a test, the one that it is given
	ctx := context.Background()
	queues := sqs.NewFromConfig(awstest.Start(t, nil).Config())
	orders, err := queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = queues.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: orders.QueueUrl, MessageBody: aws.String("hello")})
	fmt.Println(err)
	out, err := queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: orders.QueueUrl})
	fmt.Println(*out.Messages[0].Body, err)
	// Output:
	// <nil>
	// hello <nil>
}

// A message that was received and not deleted comes back after 30 seconds, which take no time.
func ExampleClock() {
	ctx := context.Background()
	clock := awstest.NewClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	queues := sqs.NewFromConfig(awstest.New(&awstest.Options{Clock: clock}).Config())
	orders, err := queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = queues.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: orders.QueueUrl, MessageBody: aws.String("hello")})
	fmt.Println(err)
	receive := func() {
		out, err := queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: orders.QueueUrl})
		fmt.Println(len(out.Messages), err)
	}
	receive()
	receive()
	clock.Advance(30 * time.Second)
	receive()
	// Output:
	// <nil>
	// 1 <nil>
	// 0 <nil>
	// 1 <nil>
}
