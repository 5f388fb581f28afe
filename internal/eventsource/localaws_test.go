package eventsource_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

const localARN = "arn:aws:sqs:us-east-1:000000000000:"

// newQueues creates a queue with a visibility timeout of 30 s whose messages
// are moved to a dead-letter queue after three receives.
func newQueues(t *testing.T, client *sqs.Client, suffix string) (source, dead string) {
	t.Helper()
	fifo := map[string]string{}
	if suffix != "" {
		fifo["FifoQueue"] = "true"
	}
	create := func(name string, attributes map[string]string) string {
		out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{
			QueueName: aws.String(name + suffix), Attributes: attributes,
		})
		if err != nil {
			t.Fatal(err)
		}
		return *out.QueueUrl
	}
	dead = create("dead", fifo)
	set := map[string]string{
		"VisibilityTimeout": "30",
		"RedrivePolicy":     fmt.Sprintf(`{"deadLetterTargetArn":"%sdead%s","maxReceiveCount":3}`, localARN, suffix),
	}
	maps.Copy(set, fifo)
	return create("jobs", set), dead
}

func TestFailedMessageIsDeliveredAgainUntilItIsRedriven(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
		source, dead := newQueues(t, client, "")
		send(t, client, source, "good", "bad", "fine")
		begin := time.Now()
		var bad []string
		m := eventsource.Mapping{
			QueueURL: source, QueueARN: localARN + "jobs", ReportBatchItemFailures: true, Concurrency: 1,
		}
		s := &recording{}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		err := eventsource.New(client, function(func(_ context.Context, event []byte) ([]byte, error) {
			var failed []string
			for _, r := range records(t, event) {
				if r.Body == "bad" {
					failed = append(failed, r.MessageId)
					bad = append(bad, fmt.Sprint(time.Since(begin), " receive ", r.Attributes["ApproximateReceiveCount"]))
				}
			}
			return []byte(failures(failed...)), nil
		}), m, &eventsource.Options{Observe: s.observe}).Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"0s receive 1", "30s receive 2", "1m0s receive 3"}, bad); diff != "" {
			t.Errorf("deliveries of the bad message (-want +got):\n%s", diff)
		}
		if got := strings.Count(deleted(s), " ") + 1; got != 2 {
			t.Errorf("deleted %q, want two messages", deleted(s))
		}
		if diff := cmp.Diff([]string{"bad"}, receiveAll(t, client, dead)); diff != "" {
			t.Errorf("dead-letter queue (-want +got):\n%s", diff)
		}
		if left := receiveAll(t, client, source); len(left) > 0 {
			t.Errorf("left in the queue: %q", left)
		}
	})
}

func TestGroupKeepsItsOrderAfterAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
		source, _ := newQueues(t, client, ".fifo")
		send(t, client, source, "a1", "b1", "a2")
		var done []string
		m := eventsource.Mapping{QueueURL: source, QueueARN: localARN + "jobs.fifo", ReportBatchItemFailures: true}
		failed := false
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		err := eventsource.New(client, function(func(_ context.Context, event []byte) ([]byte, error) {
			if !failed { // the first message of group a fails, and with it the rest of the group
				failed = true
				var rest []string
				for _, r := range records(t, event) {
					if r.Body[0] == 'a' {
						rest = append(rest, r.MessageId)
					} else {
						done = append(done, r.Body)
					}
				}
				return []byte(failures(rest...)), nil
			}
			for _, r := range records(t, event) {
				done = append(done, r.Body)
			}
			return nil, nil
		}), m, nil).Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"b1", "a1", "a2"}, done); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

// send sends bodies in order; on a FIFO queue the first letter is the group.
func send(t *testing.T, client *sqs.Client, url string, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		in := &sqs.SendMessageInput{QueueUrl: aws.String(url), MessageBody: aws.String(body)}
		if strings.HasSuffix(url, ".fifo") {
			in.MessageGroupId, in.MessageDeduplicationId = aws.String(body[:1]), aws.String(body)
		}
		if _, err := client.SendMessage(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
}

func receiveAll(t *testing.T, client *sqs.Client, url string) []string {
	t.Helper()
	out, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(url), MaxNumberOfMessages: 10,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for _, m := range out.Messages {
		bodies = append(bodies, *m.Body)
	}
	return bodies
}
