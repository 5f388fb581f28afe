package conformance_test

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// group creates a FIFO queue with the messages m0, m1, … of one group.
func (e *sqsEnv) group(t T, n int) (q string) {
	t.Helper()
	q = e.queue(t, fifoAttrs)
	for i := range n {
		e.sendGroup(t, q, "m"+strconv.Itoa(i), "g", "")
	}
	return q
}

var sqsFIFOChecks = []check[*sqsEnv]{
	{
		id:  "sqs/fifo/order-one-by-one",
		doc: "Messages of one message group are received in the order in which they were sent.",
		run: func(t T, e *sqsEnv) {
			q := e.group(t, 5)
			var got []string
			for range 5 {
				m := e.receiveOne(t, q, 30)
				got = append(got, aws.ToString(m.Body))
				e.delete(t, q, m)
			}
			equal(t, "order", strings.Join(got, ","), "m0,m1,m2,m3,m4")
		},
	},
	{
		id:  "sqs/fifo/order-in-batch",
		doc: "One receive returns as many messages of the same message group as possible, in order.",
		run: func(t T, e *sqsEnv) {
			q := e.group(t, 5)
			equal(t, "received", bodies(e.receive(t, q, rcv{max: 10, vis: 30, wait: 1})), "m0,m1,m2,m3,m4")
		},
	},
	{
		id:  "sqs/fifo/order-after-visibility-expiry",
		doc: "Messages of one message group are in order when they are received again after their visibility timeout.",
		run: func(t T, e *sqsEnv) {
			q := e.group(t, 8)
			if n := len(e.receive(t, q, rcv{max: 8, vis: 1, wait: 1})); n != 8 {
				t.Fatalf("received %d of 8 messages at first", n)
			}
			// All of them must be visible again before the next receive.
			wait(t, time.Second+*slack/2)
			equal(t, "received", bodies(e.receiveSome(t, q, rcv{max: 10, vis: 30}, 0)), "m0,m1,m2,m3,m4,m5,m6,m7")
		},
	},
	{
		id: "sqs/fifo/order-after-partial-failure",
		doc: "When the first messages of a group are deleted and the others made visible, the others are received " +
			"next, in order.",
		run: func(t T, e *sqsEnv) {
			q := e.group(t, 6)
			ms := e.receive(t, q, rcv{max: 6, vis: 60, wait: 1})
			if len(ms) != 6 {
				t.Fatalf("received %d of 6 messages at first", len(ms))
			}
			e.delete(t, q, ms[0])
			e.delete(t, q, ms[1])
			for _, m := range ms[2:] {
				must(t, "ChangeMessageVisibility", e.changeVisibility(t, q, m, 0))
			}
			equal(t, "received", bodies(e.receiveSome(t, q, rcv{max: 10, vis: 30}, 0)), "m2,m3,m4,m5")
		},
	},
	{
		id: "sqs/fifo/group-blocked",
		doc: "While a message of a message group is invisible, no other message of the group is received, but " +
			"messages of other groups are.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, fifoAttrs)
			e.sendGroup(t, q, "a1", "a", "")
			e.sendGroup(t, q, "a2", "a", "")
			e.sendGroup(t, q, "b1", "b", "")
			first := e.receiveOne(t, q, 60)
			equal(t, "first", aws.ToString(first.Body), "a1")
			equal(t, "meanwhile", bodies(e.receiveSome(t, q, rcv{max: 10, vis: 60}, 0)), "b1")
			e.delete(t, q, first)
			equal(t, "after the delete", bodies(e.receiveSome(t, q, rcv{max: 10, vis: 30}, 0)), "a2")
		},
	},
	{
		id: "sqs/fifo/long-poll-wakes-on-delete",
		doc: "A long poll returns sooner than its wait time when the next message of a group becomes available by the " +
			"delete of the one before it.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, fifoAttrs)
			e.sendGroup(t, q, "a1", "a", "")
			e.sendGroup(t, q, "a2", "a", "")
			first := e.receiveOne(t, q, 60)
			m := e.wakes(t, q, 700*time.Millisecond, func(ctx context.Context) error {
				_, err := e.c.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &q, ReceiptHandle: first.ReceiptHandle})
				return err
			})
			equal(t, "received", aws.ToString(m.Body), "a2")
		},
	},
	{
		id: "sqs/fifo/deduplication-id",
		doc: "A message with the MessageDeduplicationId of an earlier one is accepted but not delivered within the " +
			"deduplication interval.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, attrs{"FifoQueue": "true"})
			a := e.sendGroup(t, q, "x", "g", "dup")
			b := e.sendGroup(t, q, "x", "g", "dup")
			equal(t, "received", bodies(e.receive(t, q, rcv{max: 10, vis: 30, wait: 1})), "x")
			t.Logf("same MessageId: %v", aws.ToString(a.MessageId) == aws.ToString(b.MessageId))
		},
	},
	{
		id:  "sqs/fifo/deduplication-after-delete",
		doc: "A MessageDeduplicationId is kept track of even after the message is received and deleted.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, fifoAttrs)
			e.sendGroup(t, q, "x", "g", "dup")
			e.delete(t, q, e.receiveOne(t, q, 30))
			e.sendGroup(t, q, "x", "g", "dup")
			equal(t, "received", bodies(e.receive(t, q, rcv{max: 10, vis: 30, wait: 1})), "")
		},
	},
	{
		id: "sqs/fifo/content-based-deduplication",
		doc: "With ContentBasedDeduplication, a message without a deduplication id is not delivered when one with the " +
			"same body was sent within the deduplication interval.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, fifoAttrs)
			e.sendGroup(t, q, "x", "g", "")
			e.sendGroup(t, q, "x", "g", "")
			e.sendGroup(t, q, "y", "g", "")
			equal(t, "received", bodies(e.receive(t, q, rcv{max: 10, vis: 30, wait: 1})), "x,y")
		},
	},
	{
		id: "sqs/fifo/system-attributes",
		doc: "ReceiveMessage returns MessageGroupId and MessageDeduplicationId as sent, and the SequenceNumber that " +
			"SendMessage returned.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, fifoAttrs)
			out := e.sendGroup(t, q, "x", "g7", "d7")
			a := e.receiveOne(t, q, 30).Attributes
			equal(t, "group and deduplication id", a["MessageGroupId"]+" "+a["MessageDeduplicationId"], "g7 d7")
			if a["SequenceNumber"] == "" {
				t.Fatalf("no SequenceNumber")
			}
			equal(t, "SequenceNumber", a["SequenceNumber"], aws.ToString(out.SequenceNumber))
		},
	},
	{
		id:  "sqs/fifo/sequence-numbers-increase",
		doc: "SequenceNumber is a large number that continues to increase for a message group.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, fifoAttrs)
			last := ""
			for i := range 6 {
				n := aws.ToString(e.sendGroup(t, q, strconv.Itoa(i), "g", "").SequenceNumber)
				if n == "" || len(n) < len(last) || (len(n) == len(last) && n <= last) {
					t.Fatalf("%q after %q", n, last)
				}
				last = n
			}
			t.Logf("%s", last)
		},
	},
	{
		id:  "sqs/fifo/group-id-required",
		doc: "SendMessage to a FIFO queue fails without a MessageGroupId.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, fifoAttrs)
			_, err := e.c.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("x")})
			wantRejected(t, err)
		},
	},
	{
		id:  "sqs/fifo/deduplication-id-required",
		doc: "SendMessage fails without a MessageDeduplicationId when the queue does not have ContentBasedDeduplication.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, attrs{"FifoQueue": "true"})
			_, err := e.c.SendMessage(
				t.Context(), &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("x"), MessageGroupId: aws.String("g")},
			)
			wantRejected(t, err)
		},
	},
	{
		id:  "sqs/fifo/name-suffix-required",
		doc: "CreateQueue: the name of a FIFO queue ends with .fifo.",
		run: func(t T, e *sqsEnv) {
			_, err := e.create(t, unique("nofifo"), attrs{"FifoQueue": "true"})
			wantRejected(t, err)
		},
	},
	{
		id:  "sqs/fifo/standard-queue-group-id",
		doc: "SendMessage to a standard queue takes a MessageGroupId (fair queues), and ReceiveMessage returns it.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.sendGroup(t, q, "x", "tenant", "")
			equal(t, "MessageGroupId", e.receiveOne(t, q, 30).Attributes["MessageGroupId"], "tenant")
		},
	},
}
