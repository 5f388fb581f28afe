package deadletters

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Queue is a queue as its attributes describe it. It is safe for concurrent use.
type Queue struct {
	Name, URL, ARN string
	FIFO           bool
	// Retention is how long SQS keeps a message: one that was sent to the queue or
	// moved from a FIFO queue from then on, others from when their first queue got them.
	Retention time.Duration
	// Visibility is the queue's own visibility timeout.
	Visibility time.Duration
	// MaxBytes is the size of the largest message that the queue takes.
	MaxBytes int
	// Target is the ARN of the queue's own dead-letter queue, and MaxReceives after how
	// many receives SQS moves a message there; empty and 0 without a redrive policy.
	Target      string
	MaxReceives int
	// KMSKey is the key with which the queue is encrypted; empty for keys of SQS and none.
	KMSKey string
	// Count has the numbers of messages when the attributes were read.
	Count Count

	client *sqs.Client
}

// Count is the number of messages in a queue. In AWS it is approximate: a change may take
// a minute to show.
type Count struct {
	Visible  int `json:"visible"`
	InFlight int `json:"inFlight"`
	Delayed  int `json:"delayed"`
}

// Total returns the number of all messages.
func (c Count) Total() int { return c.Visible + c.InFlight + c.Delayed }

// Open reads the attributes of the queue with that URL. Its errors are those of the
// client.
func Open(ctx context.Context, client *sqs.Client, url string) (*Queue, error) {
	out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return nil, err
	}
	get := func(name types.QueueAttributeName) string { return out.Attributes[string(name)] }
	seconds := func(name types.QueueAttributeName) time.Duration {
		n, _ := strconv.Atoi(get(name)) // an attribute that the server does not have is 0
		return time.Duration(n) * time.Second
	}
	q := &Queue{
		Name: url[strings.LastIndexByte(url, '/')+1:], URL: url, ARN: get(types.QueueAttributeNameQueueArn),
		Retention:  seconds(types.QueueAttributeNameMessageRetentionPeriod),
		Visibility: seconds(types.QueueAttributeNameVisibilityTimeout),
		KMSKey:     get(types.QueueAttributeNameKmsMasterKeyId),
		Count:      newCount(out.Attributes), client: client,
	}
	q.FIFO = strings.HasSuffix(q.Name, ".fifo")
	if q.MaxBytes, err = strconv.Atoi(get(types.QueueAttributeNameMaximumMessageSize)); err != nil {
		q.MaxBytes = MaxBytes
	}
	q.readPolicy(get(types.QueueAttributeNameRedrivePolicy))
	return q, nil
}

func (q *Queue) readPolicy(text string) {
	var policy struct {
		Target string `json:"deadLetterTargetArn"`
		Max    any    `json:"maxReceiveCount"` // some servers return it as a string
	}
	if json.Unmarshal([]byte(text), &policy) != nil {
		return // the queue has no redrive policy
	}
	q.Target = policy.Target
	q.MaxReceives, _ = strconv.Atoi(fmt.Sprint(policy.Max))
}

func newCount(attributes map[string]string) Count {
	number := func(name types.QueueAttributeName) int {
		n, _ := strconv.Atoi(attributes[string(name)])
		return n
	}
	return Count{
		Visible:  number(types.QueueAttributeNameApproximateNumberOfMessages),
		InFlight: number(types.QueueAttributeNameApproximateNumberOfMessagesNotVisible),
		Delayed:  number(types.QueueAttributeNameApproximateNumberOfMessagesDelayed),
	}
}

// Recount reads the numbers of messages. Its errors are those of the client.
func (q *Queue) Recount(ctx context.Context) (Count, error) {
	out, err := q.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &q.URL, AttributeNames: []types.QueueAttributeName{
			types.QueueAttributeNameApproximateNumberOfMessages,
			types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
			types.QueueAttributeNameApproximateNumberOfMessagesDelayed,
		},
	})
	if err != nil {
		return Count{}, err
	}
	return newCount(out.Attributes), nil
}

// Sources returns the URLs of the queues whose dead-letter queue this is. Its errors are
// those of the client.
func (q *Queue) Sources(ctx context.Context) ([]string, error) {
	var urls []string
	pages := sqs.NewListDeadLetterSourceQueuesPaginator(q.client, &sqs.ListDeadLetterSourceQueuesInput{
		QueueUrl: &q.URL, MaxResults: aws.Int32(1000),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		urls = append(urls, page.QueueUrls...)
	}
	slices.Sort(urls)
	return urls, nil
}

// Client returns the client with which the queue was opened.
func (q *Queue) Client() *sqs.Client { return q.client }

// OwnPolicyError says that each look at the queue's messages counts towards the
// maxReceiveCount of its redrive policy.
type OwnPolicyError struct{ Queue *Queue }

// Error names the queue and its policy.
func (e *OwnPolicyError) Error() string {
	target := e.Queue.Target[strings.LastIndexByte(e.Queue.Target, ':')+1:]
	return fmt.Sprintf("queue %s has a redrive policy: each look counts as a receive, "+
		"and after %d SQS moves a message to %s",
		e.Queue.Name, e.Queue.MaxReceives, target)
}
