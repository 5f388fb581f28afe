package conformance_test

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

var sqsRecordedFIFOChecks = []check[*sqsEnv]{
	{
		id: "sqs/fifo/messages-before-one-in-flight",
		doc: "When the first messages of a group are visible again and a later one is not, those before it are " +
			"received.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.group(t, 3)
			ms := e.receive(t, q, rcv{max: 2, vis: 60, wait: 1})
			equal(t, "received", bodies(ms), "m0,m1")
			must(t, "ChangeMessageVisibility", e.changeVisibility(t, q, ms[0], 0))
			equal(t, "received", bodies(e.receiveSome(t, q, rcv{max: 10, vis: 60}, 0)), "m0")
		},
	},
	{
		id:    "sqs/fifo/delete-after-expiry-message",
		doc:   "DeleteMessage of a FIFO queue after the visibility timeout is refused: the handle has expired.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.group(t, 1)
			m := e.receiveOne(t, q, 1)
			wait(t, time.Second+*slack/2)
			_, err := e.c.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &q, ReceiptHandle: m.ReceiptHandle})
			wantAnswer(t, err, 400, "InvalidParameterValue", "Value "+aws.ToString(m.ReceiptHandle)+
				" for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.")
		},
	},
	{
		id:    "sqs/fifo/invalid-deduplication-id-rejected",
		doc:   "SendMessage refuses a MessageDeduplicationId that is empty, too long or has a space.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, attrs{"FifoQueue": "true"})
			for _, id := range []string{"", strings.Repeat("a", 129), "a b"} {
				_, err := e.c.SendMessage(t.Context(), &sqs.SendMessageInput{
					QueueUrl: &q, MessageBody: aws.String("x"), MessageGroupId: aws.String("g"), MessageDeduplicationId: &id,
				})
				wantAnswer(t, err, 400, "InvalidParameterValue",
					"Value "+id+" for parameter MessageDeduplicationId is invalid. Reason: MessageDeduplicationId can only include")
			}
		},
	},
	{
		id:    "sqs/batch/send-fifo-entry-without-deduplication-id",
		doc:   "SendMessageBatch fails as a whole when an entry lacks the deduplication id that the queue needs.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q, es := e.queue(t, attrs{"FifoQueue": "true"}), sendEntries(2)
			es[0].MessageGroupId, es[1].MessageGroupId = aws.String("g"), aws.String("g")
			es[0].MessageDeduplicationId = aws.String("d")
			_, err := e.sendBatch(t, q, es)
			wantAnswer(t, err, 400, "InvalidParameterValue", "ContentBasedDeduplication enabled or MessageDeduplicationId")
			e.wantCounts(t, q, "0/0/0", 0)
		},
	},
	{
		id:    "sqs/batch/send-fifo-entry-without-group-code",
		doc:   "SendMessageBatch with an entry that lacks a group id fails with InvalidParameterValue.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			_, err := e.sendBatch(t, e.queue(t, fifoAttrs), sendEntries(1))
			wantAnswer(t, err, 400, "InvalidParameterValue", "The request must contain the parameter MessageGroupId.")
		},
	},
	{
		id:    "sqs/fifo/scope-change-takes-time",
		doc:   "After a change of DeduplicationScope messages are compared in the old scope for a while.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, attrs{"FifoQueue": "true", "DeduplicationScope": "queue"})
			first := e.sendGroup(t, q, "x", "a", "same")
			must(t, "SetQueueAttributes", e.setAttributes(t, q, attrs{"DeduplicationScope": "messageGroup"}))
			second := e.sendGroup(t, q, "y", "b", "same")
			equal(t, "id of the duplicate", aws.ToString(second.MessageId), aws.ToString(first.MessageId))
		},
	},
	{
		id:    "sqs/fifo/scope-of-group-without-throughput-limit",
		doc:   "DeduplicationScope messageGroup compares messages within their group, also without a FifoThroughputLimit.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, attrs{"FifoQueue": "true", "DeduplicationScope": "messageGroup"})
			e.sendGroup(t, q, "x", "a", "same")
			e.sendGroup(t, q, "y", "b", "same")
			e.wantCounts(t, q, "2/0/0", 0)
		},
	},
}
