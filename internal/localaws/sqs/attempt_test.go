package sqs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// attempt receives up to ten messages for ten seconds, with an attempt id.
func (c *client) attempt(url, id string) []types.Message {
	c.Helper()
	return c.receiveInput(&awssqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: 10, VisibilityTimeout: 10, ReceiveRequestAttemptId: &id,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	})
}

func TestRepeatedAttemptGetsTheSameMessages(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q.fifo", fifoAttrs)
		c.sendGroup(q, "g", "1", "2")
		first := c.attempt(q, "a")
		wait(6 * time.Second)
		again := c.attempt(q, "a")
		if bodies(again) != "1,2" || *again[0].ReceiptHandle != *first[0].ReceiptHandle ||
			again[0].Attributes["ApproximateReceiveCount"] != "1" {
			c.Fatalf("repeated attempt: %s", bodies(again))
		}
		wait(6 * time.Second) // after the first timeout; the repeated receive started it again
		if got := c.attempt(q, "b"); len(got) != 0 {
			c.Errorf("another attempt got %s", bodies(got))
		}
		c.must(c.delete(q, first[0]))
		c.must(c.delete(q, first[1]))
		c.wantCounts(q, "0/0/0")
	})
}

// A receive cannot be repeated after one of its messages was changed.
func TestAttemptWithAChangedMessageCannotBeRepeated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		between func(c *client, q string, m types.Message)
		want    string // bodies of the repeated attempt
	}{
		"a message was deleted": {
			func(c *client, q string, m types.Message) { c.must(c.delete(q, m)) }, "",
		},
		"a visibility timeout was changed": {
			func(c *client, q string, m types.Message) { c.must(c.change(q, m, 30)) }, "",
		},
		"the visibility timeout is over": {
			func(*client, string, types.Message) { wait(10 * time.Second) }, "1,2",
		},
		"the queue was purged": {
			func(c *client, q string, _ types.Message) { c.must(c.purge(q)) }, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(c *client) {
				q := c.create("q.fifo", fifoAttrs)
				c.sendGroup(q, "g", "1", "2")
				first := c.attempt(q, "a")
				tt.between(c, q, first[0])
				again := c.attempt(q, "a")
				if bodies(again) != tt.want {
					c.Fatalf("got %q, want %q", bodies(again), tt.want)
				}
				if len(again) > 0 && again[0].Attributes["ApproximateReceiveCount"] != "2" {
					c.Error("a message that is received anew counts that receive")
				}
			})
		})
	}
}

func TestAttemptIsForgottenAfterFiveMinutes(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q.fifo", fifoAttrs)
		c.sendGroup(q, "g", "1")
		m := c.attempt(q, "a")[0]
		c.must(c.change(q, m, 3600))
		c.sendGroup(q, "h", "2")
		second := c.attempt(q, "b")
		if bodies(second) != "2" {
			c.Fatalf("got %s", bodies(second))
		}
		c.must(c.change(q, second[0], 3600))
		wait(5 * time.Minute)
		c.sendGroup(q, "i", "3")
		if got := c.attempt(q, "b"); bodies(got) != "3" {
			c.Errorf("got %q, want 3", bodies(got))
		}
	})
}

func TestAttemptIDsThatAreRefused(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q.fifo", fifoAttrs)
		for _, id := range []string{"with space", strings.Repeat("a", 129)} {
			_, err := c.ReceiveMessage(c.Context(), &awssqs.ReceiveMessageInput{
				QueueUrl: &q, ReceiveRequestAttemptId: aws.String(id),
			})
			c.wantCode(err, "InvalidParameterValue", "ReceiveRequestAttemptId")
		}
	})
}
