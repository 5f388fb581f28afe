package sqs_test

import (
	"errors"
	"maps"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

// client is an SDK client with helpers that the tests share. A helper fails the
// test immediately if its call fails.
type client struct {
	*testing.T
	*awssqs.Client
	server *localaws.Server
	events []sqs.Event
}

// bubble runs a test with a client and a server in a synctest bubble, where
// hours pass instantly.
func bubble(t *testing.T, f func(c *client)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &client{T: t}
		c.server = localaws.New(&localaws.Options{Observe: func(e sqs.Event) { c.events = append(c.events, e) }})
		cfg := localtest.Config(c.server)
		cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
		c.Client = awssqs.NewFromConfig(cfg)
		f(c)
	})
}

type attrs = map[string]string

var fifoAttrs = attrs{"FifoQueue": "true", "ContentBasedDeduplication": "true"}

// create creates a queue with attributes.
func (c *client) create(name string, attributes attrs) (url string) {
	c.Helper()
	out, err := c.CreateQueue(c.Context(), &awssqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	c.must(err)
	return *out.QueueUrl
}

// pair creates a queue and its dead-letter queue.
func (c *client) pair(maxReceives int, suffix string, attributes attrs) (source, dead string) {
	c.Helper()
	dead = c.create("dead"+suffix, attributes)
	with := attrs{"RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead` + suffix +
		`","maxReceiveCount":` + strconv.Itoa(maxReceives) + `}`}
	maps.Copy(with, attributes)
	return c.create("source"+suffix, with), dead
}

func (c *client) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *client) send(url, body string) *awssqs.SendMessageOutput {
	c.Helper()
	return c.sendInput(&awssqs.SendMessageInput{QueueUrl: &url, MessageBody: &body})
}

func (c *client) sendGroup(url, group string, bodies ...string) {
	c.Helper()
	for _, body := range bodies {
		c.sendInput(&awssqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: &group})
	}
}

func (c *client) sendInput(in *awssqs.SendMessageInput) *awssqs.SendMessageOutput {
	c.Helper()
	out, err := c.SendMessage(c.Context(), in)
	c.must(err)
	return out
}

// receive receives up to ten messages with a visibility timeout in seconds.
func (c *client) receive(url string, visibility int32) []types.Message {
	c.Helper()
	return c.receiveInput(&awssqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: 10, VisibilityTimeout: visibility,
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	})
}

func (c *client) receiveInput(in *awssqs.ReceiveMessageInput) []types.Message {
	c.Helper()
	out, err := c.ReceiveMessage(c.Context(), in)
	c.must(err)
	return out.Messages
}

// one receives the only message in the queue.
func (c *client) one(url string, visibility int32) types.Message {
	c.Helper()
	ms := c.receive(url, visibility)
	if len(ms) != 1 {
		c.Fatalf("received %q, want one message", bodies(ms))
	}
	return ms[0]
}

func (c *client) wantReceive(url string, visibility int32, want string) []types.Message {
	c.Helper()
	ms := c.receive(url, visibility)
	if got := bodies(ms); got != want {
		c.Fatalf("received %q, want %q", got, want)
	}
	return ms
}

func (c *client) delete(url string, m types.Message) error {
	_, err := c.DeleteMessage(c.Context(), &awssqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle})
	return err
}

func (c *client) change(url string, m types.Message, seconds int32) error {
	_, err := c.ChangeMessageVisibility(c.Context(), &awssqs.ChangeMessageVisibilityInput{
		QueueUrl: &url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: seconds,
	})
	return err
}

// wantCounts compares the numbers of visible, in-flight and delayed messages.
func (c *client) wantCounts(url, want string) {
	c.Helper()
	a := c.attributes(url)
	got := a["ApproximateNumberOfMessages"] + "/" + a["ApproximateNumberOfMessagesNotVisible"] + "/" +
		a["ApproximateNumberOfMessagesDelayed"]
	if got != want {
		c.Fatalf("visible/invisible/delayed: got %s, want %s", got, want)
	}
}

func (c *client) attributes(url string) attrs {
	c.Helper()
	out, err := c.GetQueueAttributes(c.Context(), &awssqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{"All"},
	})
	c.must(err)
	return out.Attributes
}

// wantCode compares the code of an error, and searches for text in its message.
func (c *client) wantCode(err error, code, text string) {
	c.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code || !strings.Contains(api.ErrorMessage(), text) {
		c.Fatalf("got %v, want %s with %q", err, code, text)
	}
}

// wait lets time pass.
func wait(d time.Duration) { <-time.After(d) }

func bodies(ms []types.Message) string {
	var all []string
	for _, m := range ms {
		all = append(all, *m.Body)
	}
	return strings.Join(all, ",")
}

func text(v string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &v}
}

func modelled[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
