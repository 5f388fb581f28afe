package sqs_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func TestGroupIsBlockedWhileAMessageIsInFlight(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q.fifo", fifoAttrs)
		c.sendGroup(q, "a", "a1", "a2", "a3")
		c.sendGroup(q, "b", "b1")
		one := &awssqs.ReceiveMessageInput{QueueUrl: &q, VisibilityTimeout: 60}
		head := c.receiveInput(one)[0]
		c.sendGroup(q, "a", "a4")
		c.wantReceive(q, 600, "b1")
		c.must(c.delete(q, head))
		c.wantReceive(q, 600, "a2,a3,a4")
	})
}

func TestReturnedMessagesOfAGroupKeepTheirOrder(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q.fifo", fifoAttrs)
		c.sendGroup(q, "a", "1", "2", "3", "4")
		ms := c.wantReceive(q, 60, "1,2,3,4")
		c.must(c.delete(q, ms[0]))
		// The messages return out of order, the last one by its timeout.
		c.must(c.change(q, ms[2], 0))
		c.must(c.change(q, ms[1], 10))
		c.wantReceive(q, 60, "")
		wait(10 * time.Second)
		for _, m := range c.wantReceive(q, 60, "2,3") {
			c.release(q, m)
		}
		wait(50 * time.Second)
		c.wantReceive(q, 60, "2,3,4")
	})
}

func TestReceiveFillsUpFromOtherGroups(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q.fifo", fifoAttrs)
		c.sendGroup(q, "a", "a1")
		c.sendGroup(q, "b", "b1")
		c.sendGroup(q, "a", "a2")
		c.wantReceive(q, 60, "a1,a2,b1")
	})
}

func TestLongPollWakesWhenAGroupIsFree(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q.fifo", fifoAttrs)
		c.sendGroup(q, "a", "a1")
		head := c.one(q, 60)
		c.sendGroup(q, "a", "a2")
		done := c.poll(c.Context(), q)
		wait(2 * time.Second)
		c.must(c.delete(q, head))
		c.wantPolled(done, "a2", 2*time.Second)
	})
}

func TestExpiredReceiptHandlesOfAFIFOQueue(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q.fifo", fifoAttrs)
		c.sendGroup(q, "a", "1")
		m := c.one(q, 1)
		wait(time.Second)
		c.wantCode(c.delete(q, m), "InvalidParameterValue", "The receipt handle has expired")
		c.wantCode(c.change(q, m, 9), "InvalidParameterValue", "The receipt handle has expired")
		out, err := c.DeleteMessageBatch(c.Context(), &awssqs.DeleteMessageBatchInput{
			QueueUrl: &q,
			Entries:  []types.DeleteMessageBatchRequestEntry{{Id: aws.String("e"), ReceiptHandle: m.ReceiptHandle}},
		})
		c.must(err)
		if f := out.Failed[0]; *f.Code != "ReceiptHandleIsInvalid" || *f.Message != "The receipt handle has expired" {
			c.Errorf("failed entry: %s %s", *f.Code, *f.Message)
		}
		c.wantCounts(q, "1/0/0")
	})
}

func TestDeduplication(t *testing.T) {
	t.Parallel()
	type sent struct{ body, group, dedup string }
	for name, tt := range map[string]struct {
		attributes attrs
		first      sent
		after      time.Duration
		second     sent
		duplicate  bool
	}{
		"same id": {
			attrs{"FifoQueue": "true"}, sent{"x", "a", "1"}, 5*time.Minute - 1, sent{"y", "b", "1"}, true,
		},
		"same id later":   {attrs{"FifoQueue": "true"}, sent{"x", "a", "1"}, 5 * time.Minute, sent{"x", "a", "1"}, false},
		"same content":    {fifoAttrs, sent{"x", "a", ""}, time.Second, sent{"x", "b", ""}, true},
		"other content":   {fifoAttrs, sent{"x", "a", ""}, time.Second, sent{"y", "a", ""}, false},
		"id over content": {fifoAttrs, sent{"x", "a", "1"}, time.Second, sent{"x", "a", "2"}, false},
		"in other group of a group scope": {
			attrs{"FifoQueue": "true", "DeduplicationScope": "messageGroup"},
			sent{"x", "a", "1"}, time.Second, sent{"x", "b", "1"}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(c *client) {
				q := c.create("q.fifo", tt.attributes)
				send := func(s sent) *awssqs.SendMessageOutput {
					in := &awssqs.SendMessageInput{QueueUrl: &q, MessageBody: &s.body, MessageGroupId: &s.group}
					if s.dedup != "" {
						in.MessageDeduplicationId = &s.dedup
					}
					return c.sendInput(in)
				}
				first := send(tt.first)
				c.must(c.delete(q, c.one(q, 60)))
				wait(tt.after)
				second := send(tt.second)
				if same := *first.MessageId == *second.MessageId; same != tt.duplicate {
					c.Errorf("same message id: %v", same)
				}
				if same := *first.SequenceNumber == *second.SequenceNumber; same != tt.duplicate {
					c.Errorf("same sequence number: %v", same)
				}
				if n := len(c.receive(q, 60)); (n == 0) != tt.duplicate {
					c.Errorf("received %d messages more", n)
				}
			})
		})
	}
}

func TestDelayOfAFIFOQueueAppliesToAllMessages(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q.fifo", attrs{"FifoQueue": "true", "ContentBasedDeduplication": "true", "DelaySeconds": "5"})
		c.sendGroup(q, "a", "1")
		wait(time.Second)
		c.sendGroup(q, "a", "2")
		wait(4 * time.Second)
		head := c.wantReceive(q, 60, "1")
		wait(time.Second)
		c.wantReceive(q, 60, "")
		c.must(c.delete(q, head[0]))
		c.wantReceive(q, 60, "2")
		_, err := c.SendMessage(c.Context(), &awssqs.SendMessageInput{
			QueueUrl: &q, MessageBody: aws.String("x"), MessageGroupId: aws.String("a"), DelaySeconds: 1,
		})
		c.wantCode(err, "InvalidParameterValue", "DelaySeconds")
	})
}
