package sqs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

func TestEventsDescribeTheLifeOfAMessageInOrder(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		start := time.Now()
		c.sendInput(&awssqs.SendMessageInput{
			QueueUrl: &source, MessageBody: aws.String("x"), DelaySeconds: 2,
			MessageAttributes: map[string]types.MessageAttributeValue{"a": text("v")},
		})
		wait(2 * time.Second)
		c.must(c.change(source, c.one(source, 30), 4))
		wait(4 * time.Second)
		c.wantReceive(source, 30, "")
		c.must(c.delete(dead, c.one(dead, 30)))
		var got []string
		for _, e := range c.events {
			got = append(got, fmt.Sprintf("%s %s>%s %s receives=%d timeout=%s %q %d",
				e.Time.Sub(start), e.Queue, e.To, e.Kind, e.ReceiveCount, e.Timeout, e.Body, len(e.MessageAttributes)))
		}
		want := []string{
			`0s source> sent receives=0 timeout=2s "x" 1`,
			`2s source> received receives=1 timeout=30s "" 0`,
			`2s source> visibility receives=1 timeout=4s "" 0`,
			`6s source>dead redriven receives=1 timeout=0s "x" 1`,
			`6s dead> received receives=2 timeout=30s "" 0`,
			`6s dead> deleted receives=2 timeout=0s "" 0`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			c.Error(diff)
		}
	})
}

func TestStats(t *testing.T) {
	bubble(t, func(c *client) {
		source, _ := c.pair(3, ".fifo", fifoAttrs)
		c.sendGroup(source, "a", "1")
		c.receive(source, 60)
		c.sendGroup(source, "b", "2", "3")
		const arn = "arn:aws:sqs:us-east-1:000000000000:"
		want := []sqs.QueueStats{
			{Name: "dead.fifo", ARN: arn + "dead.fifo", FIFO: true, DeadLetter: true},
			{Name: "source.fifo", ARN: arn + "source.fifo", FIFO: true, Visible: 2, NotVisible: 1,
				RedriveTarget: arn + "dead.fifo", MaxReceiveCount: 3},
		}
		if diff := cmp.Diff(want, c.server.SQS().Stats()); diff != "" {
			c.Error(diff)
		}
	})
}

func TestIdleIgnoresDeadLetterQueues(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		other := c.create("other", nil)
		c.sendInput(&awssqs.SendMessageInput{QueueUrl: &other, MessageBody: aws.String("x"), DelaySeconds: 60})
		c.send(source, "poison")
		idle := make(chan error, 1)
		go func() { idle <- c.server.SQS().Idle(c.Context()) }()
		busy := func(when string) {
			synctest.Wait()
			if len(idle) > 0 {
				c.Fatalf("idle %s", when)
			}
		}
		busy("with a visible message")
		c.one(source, 10)
		busy("with a message in flight")
		wait(10 * time.Second)
		c.receive(source, 10)
		c.wantCounts(dead, "1/0/0")
		busy("with a delayed message")
		wait(50 * time.Second)
		c.must(c.delete(other, c.one(other, 60)))
		c.must(<-idle)
	})
}

func TestIdleEndsWithItsContext(t *testing.T) {
	bubble(t, func(c *client) {
		c.send(c.create("q", nil), "x")
		ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
		defer cancel()
		if err := c.server.SQS().Idle(ctx); !errors.Is(err, context.DeadlineExceeded) {
			c.Errorf("got %v", err)
		}
	})
}

func TestTheOldestMessage(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(1, "", nil)
		want := func(when string, ages ...time.Duration) {
			c.Helper()
			got := c.server.SQS().Oldest()
			for i, name := range []string{source, dead} {
				age := time.Duration(-1)
				if at, known := got[name[strings.LastIndexByte(name, '/')+1:]]; known {
					age = time.Since(at)
				}
				if age != ages[i] {
					c.Errorf("%s: the oldest message of %s came %v ago, want %v", when, name, age, ages[i])
				}
			}
		}
		want("at first", -1, -1)
		c.send(source, "poison")
		wait(10 * time.Second)
		want("in the queue", 10*time.Second, -1)
		c.one(source, 1)
		wait(5 * time.Second)
		c.send(source, "good")
		c.wantReceive(source, 30, "good")
		want("after a move", 0, 0)
		wait(7 * time.Second)
		want("after a while", 7*time.Second, 7*time.Second)
		_, err := c.PurgeQueue(c.Context(), &awssqs.PurgeQueueInput{QueueUrl: &dead})
		c.must(err)
		want("after a purge", 7*time.Second, -1)
	})
}
