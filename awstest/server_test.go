package awstest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/awstest"
	"github.com/sqsafe/sqsafe/internal/localguard/guardtest"
)

func makeQueue(t *testing.T, config aws.Config) (*sqs.Client, *string) {
	t.Helper()
	client := sqs.NewFromConfig(config)
	queue, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	return client, queue.QueueUrl
}

func poll(ctx context.Context, client *sqs.Client, url *string, wait int32) int {
	out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: url, WaitTimeSeconds: wait})
	if err != nil {
		return -1
	}
	return len(out.Messages)
}

func send(t *testing.T, client *sqs.Client, url *string, delay int32) {
	t.Helper()
	in := &sqs.SendMessageInput{QueueUrl: url, MessageBody: aws.String("x"), DelaySeconds: delay}
	if _, err := client.SendMessage(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// Clients in this process and those of the port see the same queues, by the same URLs.
func TestAPortAndClientsInTheProcess(t *testing.T) {
	t.Parallel()
	s := awstest.Start(t, &awstest.Options{Region: "eu-west-1", Account: "123456789012"})
	client, url := makeQueue(t, s.Config())
	if want := s.URL() + "/123456789012/orders"; *url != want || s.Config().Region != "eu-west-1" {
		t.Errorf("queue at %s, want %s", *url, want)
	}
	over := s.Config()
	over.HTTPClient = http.DefaultClient
	send(t, sqs.NewFromConfig(over), url, 0)
	if n := poll(t.Context(), client, url, 0); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
	list := guardtest.Target{URL: s.URL(), Header: map[string]string{"X-Amz-Target": "AmazonSQS.ListQueues"}, Body: "{}"}
	guardtest.Refuses(t, list)
	if status, body := guardtest.Send(t, list); status != http.StatusOK || !strings.Contains(body, *url) {
		t.Errorf("%d %s", status, body)
	}
}

func TestServersShareNothing(t *testing.T) {
	t.Parallel()
	makeQueue(t, awstest.New(nil).Config())
	other := awstest.New(nil)
	queues, err := sqs.NewFromConfig(other.Config()).ListQueues(t.Context(), &sqs.ListQueuesInput{})
	if err != nil || len(queues.QueueUrls) > 0 || other.URL() != "" {
		t.Errorf("queues %v at %q, error %v", queues, other.URL(), err)
	}
	tables, err := dynamodb.NewFromConfig(other.Config()).ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil || len(tables.TableNames) > 0 {
		t.Errorf("tables %v, error %v", tables, err)
	}
}

// The clock ends delays and long polls, in their order.
func TestAClockThatIsMoved(t *testing.T) {
	t.Parallel()
	clock := awstest.NewClock(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	synctest.Test(t, func(t *testing.T) {
		client, url := makeQueue(t, awstest.New(&awstest.Options{Clock: clock}).Config())
		send(t, client, url, 60)
		polls := make(chan int, 2)
		for _, wait := range []int32{5, 20} {
			go func() { polls <- poll(t.Context(), client, url, wait) }()
		}
		synctest.Wait() // both wait
		clock.Advance(30 * time.Second)
		a, b := <-polls, <-polls
		if a+b != 0 || !clock.Now().Equal(time.Date(2026, 1, 2, 0, 0, 30, 0, time.UTC)) {
			t.Errorf("%d and %d messages by %v; both polls end before the message is visible", a, b, clock.Now())
		}
		clock.Advance(30 * time.Second)
		if n := poll(t.Context(), client, url, 0); n != 1 {
			t.Errorf("%d messages after a minute, want 1", n)
		}
		clock.Advance(-time.Hour)
		if n := poll(t.Context(), client, url, 0); n != 0 {
			t.Errorf("%d messages, want none: the clock does not go back", n)
		}
	})
}

// In a bubble the time is that of the bubble, without a clock.
func TestInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, url := makeQueue(t, awstest.New(nil).Config())
		send(t, client, url, 10)
		begin := time.Now()
		if n := poll(t.Context(), client, url, 20); n != 1 || time.Since(begin) != 10*time.Second {
			t.Errorf("%d messages after %v, want 1 after 10 s", n, time.Since(begin))
		}
	})
}
