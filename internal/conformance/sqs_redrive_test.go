package conformance_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// pair creates a queue with a visibility timeout of a second and its
// dead-letter queue. receives is the JSON value of maxReceiveCount.
func (e *sqsEnv) pair(t T, receives string, fifo bool) (src, dlq string) {
	t.Helper()
	a, b := attrs{}, attrs{"VisibilityTimeout": "1"}
	if fifo {
		for k, v := range fifoAttrs {
			a[k], b[k] = v, v
		}
	}
	dlq = e.queue(t, a)
	b["RedrivePolicy"] = fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%s}`, e.arn(t, dlq), receives)
	return e.queue(t, b), dlq
}

// redriven receives the only message of src n times and then waits until it
// is in dlq, receiving from src all the while, since a service may move a
// message when it would be received once more. It must not be received.
func (e *sqsEnv) redriven(t T, src, dlq string, n int) types.Message {
	t.Helper()
	for range n {
		e.receiveSome(t, src, rcv{max: 1, vis: 1}, time.Second)
	}
	return e.moved(t, src, dlq, time.Second)
}

func (e *sqsEnv) moved(t T, src, dlq string, within time.Duration) types.Message {
	t.Helper()
	var m types.Message
	eventually(t, within, func() error {
		if ms := e.receive(t, src, rcv{max: 1, vis: 1}); len(ms) != 0 {
			t.Fatalf("received from the source again: ApproximateReceiveCount %s", ms[0].Attributes["ApproximateReceiveCount"])
		}
		ms := e.receive(t, dlq, rcv{max: 1, vis: 30})
		if len(ms) == 0 {
			return fmt.Errorf("nothing in the dead-letter queue")
		}
		m = ms[0]
		return nil
	})
	return m
}

// fill puts n messages into dlq by redrive (maxReceiveCount must be 1).
func (e *sqsEnv) fill(t T, src, dlq string, n int) {
	t.Helper()
	for i := range n {
		e.send(t, src, "m"+strconv.Itoa(i))
	}
	eventually(t, 5*time.Second, func() error {
		e.receive(t, src, rcv{max: 10, vis: 1})
		if got := e.counts(t, dlq); got != fmt.Sprintf("%d/0/0", n) {
			return fmt.Errorf("filling the dead-letter queue by redrive: %s, want %d/0/0", got, n)
		}
		return nil
	})
}

var sqsRedriveChecks = []check[*sqsEnv]{
	{
		id: "sqs/redrive/moves-after-max-receive-count",
		doc: "A message whose receive count would exceed maxReceiveCount is moved to the dead-letter queue, with its " +
			"id, body and message attributes.",
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "2", false)
			out := e.sendInput(
				t,
				&sqs.SendMessageInput{
					QueueUrl:    &src,
					MessageBody: aws.String("poison"),
					MessageAttributes: map[string]types.MessageAttributeValue{
						"a": stringAttr("v"), "b": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 255}}},
				},
			)
			m := e.redriven(t, src, dlq, 2)
			equal(t, "id kept", aws.ToString(m.MessageId) == aws.ToString(out.MessageId), true)
			equal(
				t,
				"body, attributes",
				fmt.Sprintf(
					"%s %s %v", aws.ToString(m.Body), aws.ToString(m.MessageAttributes["a"].StringValue),
					m.MessageAttributes["b"].BinaryValue,
				),
				"poison v [0 255]",
			)
			t.Logf("ApproximateReceiveCount %s", m.Attributes["ApproximateReceiveCount"])
		},
	},
	{
		id:  "sqs/redrive/counts",
		doc: "A message that has been moved counts in the dead-letter queue and no more in the source.",
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "1", false)
			e.send(t, src, "x")
			e.receiveOne(t, src, 1)
			wait(t, 1200*time.Millisecond)
			t.Logf("in the dead-letter queue before a further receive from the source: %s", e.counts(t, dlq))
			eventually(t, 0, func() error {
				if ms := e.receive(t, src, rcv{max: 1, vis: 1}); len(ms) != 0 {
					t.Fatalf("received from the source again")
				}
				if got := e.counts(t, src) + " " + e.counts(t, dlq); got != "0/0/0 1/0/0" {
					return fmt.Errorf("source and dead-letter queue: got %s, want 0/0/0 1/0/0", got)
				}
				return nil
			})
		},
	},
	{
		id:  "sqs/redrive/max-receive-count-as-string",
		doc: "RedrivePolicy: maxReceiveCount may be a string of digits, as in the examples of the documentation.",
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, `"1"`, false)
			e.send(t, src, "x")
			e.redriven(t, src, dlq, 1)
		},
	},
	{
		id:  "sqs/redrive/after-visibility-zero",
		doc: "Receives that were ended by ChangeMessageVisibility with 0 count towards maxReceiveCount, each once.",
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "2", false)
			e.send(t, src, "x")
			for range 2 {
				must(t, "ChangeMessageVisibility", e.changeVisibility(t, src, e.receiveOne(t, src, 60), 0))
			}
			e.moved(t, src, dlq, 0)
		},
	},
	{
		id:  "sqs/redrive/source-arn-attribute",
		doc: "A message in a dead-letter queue has the system attribute DeadLetterQueueSourceArn.",
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "1", false)
			e.send(t, src, "x")
			equal(
				t, "DeadLetterQueueSourceArn", e.redriven(t, src, dlq, 1).Attributes["DeadLetterQueueSourceArn"], e.arn(t, src),
			)
		},
	},
	{
		id:  "sqs/redrive/sent-timestamp-kept",
		doc: "The enqueue timestamp of a message of a standard queue is unchanged in the dead-letter queue.",
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "1", false)
			e.send(t, src, "x")
			sent := e.receiveOne(t, src, 1).Attributes["SentTimestamp"]
			wait(t, time.Second)
			equal(t, "SentTimestamp", e.moved(t, src, dlq, 0).Attributes["SentTimestamp"], sent)
		},
	},
	{
		id:        "sqs/redrive/fifo-group-kept",
		doc:       "A message of a FIFO queue keeps its MessageGroupId in the dead-letter queue.",
		debatable: "the documentation says only that the dead-letter queue of a FIFO queue is a FIFO queue",
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "1", true)
			e.sendGroup(t, src, "x", "g1", "")
			equal(t, "MessageGroupId", e.redriven(t, src, dlq, 1).Attributes["MessageGroupId"], "g1")
		},
	},
	{
		id:        "sqs/redrive/missing-target-rejected",
		doc:       "CreateQueue fails when the deadLetterTargetArn of the RedrivePolicy names no queue.",
		debatable: "the documentation does not say that the target must exist by then",
		run: func(t T, e *sqsEnv) {
			arn := e.arn(t, e.queue(t, nil))
			arn = arn[:strings.LastIndex(arn, ":")+1] + unique("none")
			_, err := e.create(
				t, unique("q"), attrs{"RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":2}`, arn)},
			)
			wantRejected(t, err)
		},
	},
	{
		id:  "sqs/redrive/policy-not-json-rejected",
		doc: "CreateQueue: RedrivePolicy is a JSON object.",
		run: func(t T, e *sqsEnv) {
			_, err := e.create(t, unique("q"), attrs{"RedrivePolicy": "nope"})
			wantRejected(t, err)
		},
	},
	{
		id:  "sqs/redrive/policy-returned",
		doc: "GetQueueAttributes returns the RedrivePolicy.",
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "3", false)
			p := e.attributes(t, src, types.QueueAttributeNameRedrivePolicy)["RedrivePolicy"]
			if !strings.Contains(p, e.arn(t, dlq)) || !strings.Contains(p, "3") {
				t.Fatalf("RedrivePolicy: got %q", p)
			}
		},
	},
	{
		id:  "sqs/redrive/list-sources",
		doc: "ListDeadLetterSourceQueues lists the queues that have this one as their dead-letter queue.",
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "1", false)
			out, err := e.c.ListDeadLetterSourceQueues(t.Context(), &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: &dlq})
			must(t, "ListDeadLetterSourceQueues", err)
			equal(t, "the source is listed", slices.Contains(out.QueueUrls, src), true)
		},
	},
	{
		id: "sqs/redrive/move-to-source",
		doc: "StartMessageMoveTask without a DestinationArn moves the messages of a dead-letter queue back to their " +
			"source; ListMessageMoveTasks shows the task as COMPLETED.",
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "1", false)
			e.fill(t, src, dlq, 5)
			arn := e.arn(t, dlq)
			_, err := e.c.StartMessageMoveTask(t.Context(), &sqs.StartMessageMoveTaskInput{SourceArn: &arn})
			must(t, "StartMessageMoveTask", err)
			eventually(t, 10*time.Second, func() error {
				out, err := e.c.ListMessageMoveTasks(t.Context(), &sqs.ListMessageMoveTasksInput{SourceArn: &arn})
				must(t, "ListMessageMoveTasks", err)
				if len(out.Results) == 0 || aws.ToString(out.Results[0].Status) != "COMPLETED" {
					return fmt.Errorf("task not COMPLETED; source %s, dead-letter queue %s", e.counts(t, src), e.counts(t, dlq))
				}
				if n := out.Results[0].ApproximateNumberOfMessagesMoved; n != 5 {
					return fmt.Errorf("ApproximateNumberOfMessagesMoved: got %d, want 5", n)
				}
				return nil
			})
			e.wantCounts(t, src, "5/0/0", 0)
			e.wantCounts(t, dlq, "0/0/0", 0)
		},
	},
	{
		id:  "sqs/redrive/move-to-destination",
		doc: "StartMessageMoveTask with a DestinationArn moves the messages of a dead-letter queue there.",
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "1", false)
			e.fill(t, src, dlq, 3)
			dst := e.queue(t, nil)
			arn, to := e.arn(t, dlq), e.arn(t, dst)
			_, err := e.c.StartMessageMoveTask(
				t.Context(), &sqs.StartMessageMoveTaskInput{SourceArn: &arn, DestinationArn: &to},
			)
			must(t, "StartMessageMoveTask", err)
			e.wantCounts(t, dst, "3/0/0", 6*time.Second)
			e.wantCounts(t, dlq, "0/0/0", 0)
		},
	},
	{
		id:  "sqs/redrive/move-from-other-queue-rejected",
		doc: "StartMessageMoveTask: the source must be the dead-letter queue of an SQS queue.",
		run: func(t T, e *sqsEnv) {
			arn := e.arn(t, e.queue(t, nil))
			_, err := e.c.StartMessageMoveTask(t.Context(), &sqs.StartMessageMoveTaskInput{SourceArn: &arn})
			wantRejected(t, err)
		},
	},
	{
		id:  "sqs/redrive/move-cancelled",
		doc: "CancelMessageMoveTask stops the messages that have not been moved yet (here at one message a second).",
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "1", false)
			e.fill(t, src, dlq, 8)
			arn := e.arn(t, dlq)
			task, err := e.c.StartMessageMoveTask(
				t.Context(), &sqs.StartMessageMoveTaskInput{SourceArn: &arn, MaxNumberOfMessagesPerSecond: aws.Int32(1)},
			)
			must(t, "StartMessageMoveTask", err)
			wait(t, 1500*time.Millisecond)
			out, err := e.c.CancelMessageMoveTask(t.Context(), &sqs.CancelMessageMoveTaskInput{TaskHandle: task.TaskHandle})
			must(t, "CancelMessageMoveTask", err)
			wait(t, time.Second+*slack/2)
			left := e.counts(t, dlq)
			if left == "0/0/0" || left == "8/0/0" {
				t.Fatalf("left in the dead-letter queue: %s of 8", left)
			}
			t.Logf("moved %d, left in the dead-letter queue %s", out.ApproximateNumberOfMessagesMoved, left)
			wait(t, 1500*time.Millisecond)
			equal(t, "left later", e.counts(t, dlq), left)
		},
	},
}
