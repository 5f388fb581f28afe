package conformance_test

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

var sqsVisibilityChecks = []check[*sqsEnv]{
	{
		id: "sqs/visibility/receive-timeout",
		doc: "ReceiveMessage: its VisibilityTimeout hides the message for that time; the message is received again " +
			"then, with another receipt handle.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			id := aws.ToString(e.send(t, q, "x").MessageId)
			first := e.receiveOne(t, q, 2)
			e.wantNone(t, q, "within the visibility timeout")
			second := e.receiveSome(t, q, rcv{max: 1, vis: 30}, 2*time.Second)[0]
			equal(t, "same message", aws.ToString(second.MessageId), id)
			equal(t, "another handle", aws.ToString(first.ReceiptHandle) != aws.ToString(second.ReceiptHandle), true)
		},
	},
	{
		id:  "sqs/visibility/queue-timeout",
		doc: "ReceiveMessage without a VisibilityTimeout hides the message for the visibility timeout of the queue.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, attrs{"VisibilityTimeout": "2"})
			e.send(t, q, "x")
			e.receiveOne(t, q, 0)
			e.wantNone(t, q, "within the visibility timeout")
			e.receiveSome(t, q, rcv{max: 1}, 2*time.Second)
		},
	},
	{
		id:  "sqs/visibility/queue-timeout-zero",
		doc: "A queue whose VisibilityTimeout is 0 does not hide received messages.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, attrs{"VisibilityTimeout": "0"})
			e.send(t, q, "x")
			e.receiveOne(t, q, 0)
			e.receiveOne(t, q, 0)
		},
	},
	{
		id:  "sqs/visibility/change-to-zero",
		doc: "ChangeMessageVisibility with a timeout of 0 makes the message visible at once.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			must(t, "ChangeMessageVisibility", e.changeVisibility(t, q, e.receiveOne(t, q, 60), 0))
			e.receiveOne(t, q, 30)
		},
	},
	{
		id:  "sqs/visibility/change-extends",
		doc: "ChangeMessageVisibility sets a timeout that counts from the time of the call.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			must(t, "ChangeMessageVisibility", e.changeVisibility(t, q, e.receiveOne(t, q, 1), 3))
			changed := time.Now()
			wait(t, 1500*time.Millisecond)
			e.wantNone(t, q, "after the first timeout, within the second")
			e.receiveSome(t, q, rcv{max: 1, vis: 30}, time.Until(changed.Add(3*time.Second)))
		},
	},
	{
		id:  "sqs/visibility/change-over-12h-rejected",
		doc: "ChangeMessageVisibility: VisibilityTimeout is from 0 to 43,200.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			wantRejected(t, e.changeVisibility(t, q, e.receiveOne(t, q, 30), 43201))
		},
	},
	{
		id: "sqs/visibility/change-after-expiry",
		doc: "ChangeMessageVisibility with the most recent receipt handle hides a message whose timeout is over " +
			"again.",
		debatable: "the documentation says that it might result in an error; recordings of the real service show " +
			"success for standard queues",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			m := e.receiveOne(t, q, 1)
			wait(t, time.Second+*slack/2)
			must(t, "ChangeMessageVisibility", e.changeVisibility(t, q, m, 30))
			e.wantNone(t, q, "within the new timeout")
		},
	},
	{
		id:  "sqs/visibility/change-garbage-handle",
		doc: "ChangeMessageVisibility fails with ReceiptHandleIsInvalid when the receipt handle is not valid.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			wantError[*types.ReceiptHandleIsInvalid](
				t, e.changeVisibility(t, q, types.Message{ReceiptHandle: aws.String("garbage")}, 10),
			)
		},
	},
	{
		id:  "sqs/visibility/receive-timeout-over-12h-rejected",
		doc: "ReceiveMessage: a message can be hidden for 12 hours (43,200 seconds) at most.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			_, err := e.c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &q, VisibilityTimeout: 43201})
			wantRejected(t, err)
		},
	},
	{
		id:  "sqs/visibility/receive-count",
		doc: "ApproximateReceiveCount is the number of times that a message has been received and not deleted.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			var got []string
			for range 3 {
				m := e.receiveOne(t, q, 60)
				got = append(got, m.Attributes["ApproximateReceiveCount"])
				must(t, "ChangeMessageVisibility", e.changeVisibility(t, q, m, 0))
			}
			equal(t, "ApproximateReceiveCount", strings.Join(got, ","), "1,2,3")
		},
	},
}
