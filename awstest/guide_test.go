package awstest_test

// What docs/emulators.md shows; a test of internal/clients compares the page with it.

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/awstest"
)

func TestOrders(t *testing.T) {
	clock := awstest.NewClock(time.Now())
	emulators := awstest.Start(t, &awstest.Options{Clock: clock})
	queues := sqs.NewFromConfig(emulators.Config())
	orders, err := queues.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ENDPOINT_URL", emulators.URL()) // for code that makes its clients itself

	later := &sqs.SendMessageInput{QueueUrl: orders.QueueUrl, MessageBody: aws.String("hello"), DelaySeconds: 60}
	if _, err := queues.SendMessage(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Minute)
	got, err := queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: orders.QueueUrl})
	if err != nil || len(got.Messages) != 1 {
		t.Errorf("%d messages, error %v", len(got.Messages), err)
	}
}
