package sqs_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// release makes messages visible at once, in one batch.
func (c *client) release(url string, ms ...types.Message) {
	c.Helper()
	in := &awssqs.ChangeMessageVisibilityBatchInput{QueueUrl: &url}
	for i, m := range ms {
		in.Entries = append(in.Entries, types.ChangeMessageVisibilityBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle,
		})
	}
	out, err := c.ChangeMessageVisibilityBatch(c.Context(), in)
	c.must(err)
	if len(out.Successful) != len(ms) {
		c.Fatalf("released %d of %d: %s", len(out.Successful), len(ms), failures(out.Failed))
	}
}

func TestReleasedMessageIsVisibleAtOnce(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		c.send(q, "a")
		c.send(q, "b")
		ms := c.wantReceive(q, 600, "a,b")
		c.release(q, ms[0])
		c.wantCounts(q, "1/1/0")
		again := c.wantReceive(q, 600, "a")
		if n := again[0].Attributes["ApproximateReceiveCount"]; n != "2" {
			c.Errorf("receive count %s, want 2", n)
		}
		// The handle of the first receive is still valid.
		c.release(q, ms[0])
		c.wantCounts(q, "1/1/0")
		c.must(c.change(q, ms[1], 30))
	})
}

// Between its release and the next receive a message can still be deleted with
// its handle from a standard queue, but not from a FIFO queue.
func TestReleasedMessageCanBeDeletedInAStandardQueueOnly(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		c.send(q, "x")
		m := c.one(q, 600)
		c.release(q, m)
		c.must(c.delete(q, m))
		c.wantCounts(q, "0/0/0")

		fifo := c.create("q.fifo", fifoAttrs)
		c.sendGroup(fifo, "g", "x")
		m = c.one(fifo, 600)
		c.release(fifo, m)
		c.wantCode(c.delete(fifo, m), "InvalidParameterValue", "expired")
		c.wantCounts(fifo, "1/0/0")
	})
}

// The messages of a group before the first one in flight can be received; those
// after it cannot.
func TestReleasedMessagesAreReceivedUpToTheFirstInFlight(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q.fifo", fifoAttrs)
		c.sendGroup(q, "g", "1", "2", "3")
		ms := c.wantReceive(q, 10, "1,2,3")
		c.release(q, ms[2])
		c.wantReceive(q, 10, "")
		c.release(q, ms[0])
		ms[0] = c.wantReceive(q, 10, "1")[0]
		c.release(q, ms[0])
		wait(10 * time.Second) // the timeout of the second message
		c.wantReceive(q, 10, "1,2,3")
	})
}

func TestDelayedMessageCannotBeReleased(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", attrs{"DelaySeconds": "5"})
		c.send(q, "x")
		c.wantReceive(q, 10, "")
		wait(5 * time.Second)
		m := c.one(q, 10)
		c.release(q, m)
		c.wantReceive(q, 10, "x") // the delay does not start again
	})
}

// A released message still counts its receive for the redrive.
func TestReleasedMessageCountsTowardsTheRedrive(t *testing.T) {
	bubble(t, func(c *client) {
		source, dead := c.pair(3, "", nil)
		c.send(source, "x")
		for range 3 {
			c.release(source, c.one(source, 600))
		}
		c.wantCounts(source, "1/0/0")
		c.wantReceive(source, 600, "")
		c.wantReceive(dead, 600, "x")
	})
}
