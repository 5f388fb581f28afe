package conformance_test

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

var sqsDeliveryChecks = []check[*sqsEnv]{
	{
		id: "sqs/delivery/send-receive-delete",
		doc: "A received message has the id that SendMessage gave, the body and its MD5 digest; a deleted message is " +
			"not received again.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			id := aws.ToString(e.send(t, q, "hello").MessageId)
			m := e.receiveOne(t, q, 1)
			sum := md5.Sum([]byte("hello"))
			equal(
				t, "id, body, MD5", fmt.Sprint(aws.ToString(m.MessageId) == id, aws.ToString(m.Body), aws.ToString(m.MD5OfBody)),
				fmt.Sprint(true, "hello", hex.EncodeToString(sum[:])),
			)
			e.delete(t, q, m)
			wait(t, 1200*time.Millisecond)
			e.wantNone(t, q, "after the delete")
		},
	},
	{
		id:        "sqs/delivery/delete-twice",
		doc:       "DeleteMessage of a message that is deleted already succeeds.",
		debatable: "the documentation is silent; recordings of the real service show success",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			m := e.receiveOne(t, q, 30)
			e.delete(t, q, m)
			_, err := e.c.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &q, ReceiptHandle: m.ReceiptHandle})
			must(t, "second DeleteMessage", err)
		},
	},
	{
		id: "sqs/delivery/delete-after-visibility-expiry",
		doc: "DeleteMessage takes the receipt handle of the most recent receive, also after the visibility " +
			"timeout (standard queue).",
		debatable: "ChangeMessageVisibility's page says that a delete after the timeout might result in an error; " +
			"recordings of the real service show success for standard queues",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			m := e.receiveOne(t, q, 1)
			wait(t, 1300*time.Millisecond)
			e.delete(t, q, m)
			wait(t, *slack/2)
			e.wantNone(t, q, "after the delete")
		},
	},
	{
		id:  "sqs/delivery/delete-with-stale-handle",
		doc: "DeleteMessage with an old receipt handle succeeds, though the message might not be deleted.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			m := e.receiveOne(t, q, 1)
			e.receiveSome(t, q, rcv{max: 1, vis: 30}, time.Second)
			_, err := e.c.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &q, ReceiptHandle: m.ReceiptHandle})
			must(t, "DeleteMessage with the first handle", err)
		},
	},
	{
		id:  "sqs/delivery/delete-with-garbage-handle",
		doc: "DeleteMessage fails with ReceiptHandleIsInvalid when the receipt handle is not valid.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			_, err := e.c.DeleteMessage(
				t.Context(), &sqs.DeleteMessageInput{QueueUrl: &q, ReceiptHandle: aws.String("garbage")},
			)
			wantError[*types.ReceiptHandleIsInvalid](t, err)
		},
	},
	{
		id:  "sqs/delivery/max-number-of-messages",
		doc: "ReceiveMessage: MaxNumberOfMessages is from 1 to 10, and no more messages are returned than it says.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			for range 2 {
				_, err := e.c.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: &q, Entries: sendEntries(8)})
				must(t, "SendMessageBatch", err)
			}
			if n := len(e.receiveSome(t, q, rcv{max: 10, vis: 30}, 0)); n > 10 {
				t.Fatalf("received %d", n)
			}
			_, err := e.c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &q, MaxNumberOfMessages: 11})
			wantRejected(t, err)
		},
	},
	{
		id:  "sqs/delivery/message-delay",
		doc: "SendMessage: a message with DelaySeconds becomes available when the delay is over.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.sendInput(t, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("d"), DelaySeconds: 2})
			e.wantNone(t, q, "before the delay was over")
			e.receiveSome(t, q, rcv{max: 1, vis: 30}, 2*time.Second)
		},
	},
	{
		id:  "sqs/delivery/queue-delay",
		doc: "CreateQueue: DelaySeconds of the queue delays the delivery of all its messages.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, attrs{"DelaySeconds": "2"})
			e.send(t, q, "d")
			e.wantNone(t, q, "before the delay was over")
			e.receiveSome(t, q, rcv{max: 1, vis: 30}, 2*time.Second)
		},
	},
	{
		id:  "sqs/delivery/delay-over-15min-rejected",
		doc: "SendMessage: DelaySeconds is from 0 to 900.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			_, err := e.c.SendMessage(
				t.Context(), &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("d"), DelaySeconds: 901},
			)
			wantRejected(t, err)
		},
	},
	{
		id:  "sqs/delivery/approximate-counts",
		doc: "GetQueueAttributes counts visible, invisible and delayed messages (approximately, and with a delay).",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			for i := range 3 {
				e.send(t, q, strconv.Itoa(i))
			}
			e.sendInput(t, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("d"), DelaySeconds: 300})
			e.receiveOne(t, q, 300)
			e.wantCounts(t, q, "2/1/1", 0)
		},
	},
	{
		id:  "sqs/delivery/counts-after-visibility-expiry",
		doc: "A message whose visibility timeout is over counts as visible again, without a further receive.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			e.receiveOne(t, q, 1)
			e.wantCounts(t, q, "1/0/0", time.Second)
		},
	},
	{
		id: "sqs/delivery/concurrent-receivers",
		doc: "A standard queue delivers each message at least once, here to 16 receivers at the same time; duplicates " +
			"are rare and only reported.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			const total = 400
			for i := range total / 10 {
				es := sendEntries(10)
				for j := range es {
					es[j].MessageBody = aws.String(strconv.Itoa(i*10 + j))
				}
				out, err := e.c.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: &q, Entries: es})
				must(t, "SendMessageBatch", err)
				if len(out.Failed) > 0 {
					t.Fatalf("SendMessageBatch: %d entries failed", len(out.Failed))
				}
			}
			var mu sync.Mutex
			var wg sync.WaitGroup
			seen := map[string]int{}
			var failure error
			for range 16 {
				wg.Go(func() {
					for {
						out, err := e.c.ReceiveMessage(
							t.Context(),
							&sqs.ReceiveMessageInput{QueueUrl: &q, MaxNumberOfMessages: 10, VisibilityTimeout: 60, WaitTimeSeconds: 1},
						)
						if err == nil && len(out.Messages) == 0 {
							return
						}
						var es []types.DeleteMessageBatchRequestEntry
						mu.Lock()
						if err == nil {
							for i, m := range out.Messages {
								seen[aws.ToString(m.Body)]++
								es = append(
									es, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle},
								)
							}
						}
						mu.Unlock()
						if err == nil {
							_, err = e.c.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: &q, Entries: es})
						}
						if err != nil {
							mu.Lock()
							failure = err
							mu.Unlock()
							return
						}
					}
				})
			}
			wg.Wait()
			must(t, "receive and delete", failure)
			again := 0
			for _, n := range seen {
				again += n - 1
			}
			equal(t, "distinct messages", len(seen), total)
			t.Logf("delivered more than once: %d", again)
			e.wantCounts(t, q, "0/0/0", 0)
		},
	},
}
