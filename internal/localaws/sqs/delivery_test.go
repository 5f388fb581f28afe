package sqs_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
)

func TestReceivedMessageIsHiddenUntilItsTimeout(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		c.send(q, "x")
		first := c.one(q, 40)
		wait(40*time.Second - 1)
		c.wantReceive(q, 0, "")
		c.wantCounts(q, "0/1/0")
		wait(1)
		c.wantCounts(q, "1/0/0")
		second := c.one(q, 40)
		if *first.MessageId != *second.MessageId || *first.ReceiptHandle == *second.ReceiptHandle {
			c.Error("want the same message with another receipt handle")
		}
	})
}

func TestSystemAttributes(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		sent := strconv.FormatInt(time.Now().UnixMilli(), 10)
		c.sendInput(&awssqs.SendMessageInput{
			QueueUrl: &q, MessageBody: aws.String("x"), MessageGroupId: aws.String("tenant"),
			MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
				"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String("Root=1")},
			},
		})
		wait(time.Second)
		first := strconv.FormatInt(time.Now().UnixMilli(), 10)
		c.one(q, 1)
		wait(time.Second)
		want := attrs{
			"SenderId": "000000000000", "SentTimestamp": sent, "ApproximateReceiveCount": "2",
			"ApproximateFirstReceiveTimestamp": first, "MessageGroupId": "tenant", "AWSTraceHeader": "Root=1",
		}
		if diff := cmp.Diff(want, c.one(q, 1).Attributes); diff != "" {
			c.Error(diff)
		}
	})
}

func TestReceiveReturnsTheRequestedAttributes(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", attrs{"VisibilityTimeout": "0"})
		c.sendInput(&awssqs.SendMessageInput{
			QueueUrl: &q, MessageBody: aws.String("x"),
			MessageAttributes: map[string]types.MessageAttributeValue{
				"a": text("1"), "p.1": text("2"), "p.2": text("3"), "z": text("4"),
			},
		})
		for _, tt := range []struct {
			in      awssqs.ReceiveMessageInput
			message int
			system  int
		}{
			{awssqs.ReceiveMessageInput{}, 0, 0},
			{awssqs.ReceiveMessageInput{MessageAttributeNames: []string{"a", "p.*"}}, 3, 0},
			{awssqs.ReceiveMessageInput{MessageAttributeNames: []string{".*"}}, 4, 0},
			{awssqs.ReceiveMessageInput{AttributeNames: []types.QueueAttributeName{"SenderId"}}, 0, 1},
			{awssqs.ReceiveMessageInput{
				AttributeNames:              []types.QueueAttributeName{"SenderId"},
				MessageSystemAttributeNames: []types.MessageSystemAttributeName{"SentTimestamp"},
			}, 0, 2},
		} {
			tt.in.QueueUrl = &q
			m := c.receiveInput(&tt.in)[0]
			if len(m.MessageAttributes) != tt.message || len(m.Attributes) != tt.system {
				c.Errorf("%v: got %v and %v", tt.in, m.MessageAttributes, m.Attributes)
			}
			if (m.MD5OfMessageAttributes != nil) != (tt.message > 0) {
				c.Errorf("%v: MD5OfMessageAttributes %v", tt.in, m.MD5OfMessageAttributes)
			}
		}
		_, err := c.ReceiveMessage(c.Context(), &awssqs.ReceiveMessageInput{
			QueueUrl: &q, AttributeNames: []types.QueueAttributeName{"Nope"},
		})
		c.wantCode(err, "InvalidAttributeName", "Nope")
	})
}

func TestDelayedMessagesBecomeVisibleAfterTheDelay(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", attrs{"DelaySeconds": "60"})
		c.send(q, "by the queue")
		c.sendInput(&awssqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("own"), DelaySeconds: 30})
		c.wantCounts(q, "0/0/2")
		wait(30 * time.Second)
		c.wantReceive(q, 600, "own")
		c.wantCounts(q, "0/1/1")
		wait(30 * time.Second)
		c.wantReceive(q, 600, "by the queue")
	})
}

func TestRetentionEndsForMessagesInFlightToo(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", attrs{"MessageRetentionPeriod": "60"})
		c.send(q, "old")
		wait(30 * time.Second)
		c.send(q, "young")
		old := c.receive(q, 300)[0]
		wait(30 * time.Second)
		c.wantCounts(q, "0/1/0")
		c.must(c.delete(q, old))
		wait(30 * time.Second)
		c.wantCounts(q, "0/0/0")
	})
}

func TestReceiptHandlesOfAStandardQueue(t *testing.T) {
	bubble(t, func(c *client) {
		q, other := c.create("q", nil), c.create("other", nil)
		c.send(q, "x")
		stale := c.one(q, 1)
		wait(time.Second)
		last := c.one(q, 60)
		c.must(c.change(q, stale, 60))
		c.wantCode(c.delete(other, last), "ReceiptHandleIsInvalid", "")
		c.wantCode(c.delete(q, types.Message{ReceiptHandle: aws.String("eHg=")}), "ReceiptHandleIsInvalid", "eHg=")
		wait(time.Minute)
		c.must(c.delete(q, stale))
		c.wantCounts(q, "0/0/0")
		c.must(c.delete(q, stale))
		c.must(c.delete(q, last))
		c.wantCode(c.change(q, last, 9), "InvalidParameterValue", "Message does not exist")
	})
}

func TestVisibilityEndsTwelveHoursAfterTheReceive(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		c.send(q, "x")
		m := c.one(q, 60)
		c.must(c.change(q, m, 43_200))
		wait(5 * time.Second)
		c.wantCode(c.change(q, m, 43_196), "InvalidParameterValue", "beyond the limit [43200 seconds]")
		c.wantCode(c.change(q, m, 43_201), "InvalidParameterValue", "between 0 and 43200")
		c.wantCode(c.change(q, m, -1), "InvalidParameterValue", "between 0 and 43200")
		c.must(c.change(q, m, 43_195))
		wait(12*time.Hour - 6*time.Second)
		c.wantReceive(q, 1, "")
		wait(time.Second)
		c.one(q, 1)
	})
}

func TestChangedVisibilityCountsFromTheChange(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		c.send(q, "x")
		m := c.one(q, 60)
		wait(50 * time.Second)
		c.must(c.change(q, m, 30))
		wait(29 * time.Second)
		c.wantReceive(q, 1, "")
		c.must(c.change(q, m, 0))
		again := c.one(q, 10)
		wait(10 * time.Second)
		c.must(c.change(q, again, 5))
		c.wantReceive(q, 1, "")
	})
}

func TestReturnedMessagesAreReceivedAfterOthers(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		c.send(q, "failing")
		c.send(q, "next")
		one := &awssqs.ReceiveMessageInput{QueueUrl: &q}
		c.must(c.change(q, c.receiveInput(one)[0], 0))
		if got := bodies(c.receiveInput(one)); got != "next" {
			c.Errorf("received %q after the failure of the first", got)
		}
	})
}
