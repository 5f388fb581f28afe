package conformance_test

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// wakes makes a long poll of 15 seconds that is to end with a message because
// of something that happens after the given time. When do is not nil, it is
// what happens.
func (e *sqsEnv) wakes(t T, q string, after time.Duration, do func(ctx context.Context) error) types.Message {
	t.Helper()
	result := make(chan error, 1)
	if do == nil {
		result <- nil
	} else {
		go func() {
			wait(t, after)
			result <- do(t.Context())
		}()
	}
	start := time.Now()
	ms := e.receive(t, q, rcv{max: 1, vis: 30, wait: 15})
	took := time.Since(start)
	must(t, "what was to wake the poll", <-result)
	if len(ms) != 1 || took > after+*slack {
		t.Fatalf("%d messages after %s, want 1 within %s", len(ms), took.Round(time.Millisecond), after+*slack)
	}
	t.Logf("after %s", took.Round(time.Millisecond))
	return ms[0]
}

// wantWait stops the check unless an empty receive takes two seconds.
func (e *sqsEnv) wantWait(t T, q string, seconds int) {
	t.Helper()
	start := time.Now()
	n := len(e.receive(t, q, rcv{max: 1, wait: seconds}))
	took := time.Since(start)
	if n != 0 || took < 1800*time.Millisecond || took > 2*time.Second+*slack {
		t.Fatalf("%d messages after %s", n, took.Round(time.Millisecond))
	}
	t.Logf("%s", took.Round(time.Millisecond))
}

var sqsLongPollChecks = []check[*sqsEnv]{
	{
		id:  "sqs/long-poll/empty-queue-waits",
		doc: "ReceiveMessage with WaitTimeSeconds returns without messages when the wait time is over.",
		run: func(t T, e *sqsEnv) { e.wantWait(t, e.queue(t, nil), 2) },
	},
	{
		id:  "sqs/long-poll/queue-wait-time",
		doc: "ReceiveMessageWaitTimeSeconds of the queue is the wait time of requests that give none.",
		run: func(t T, e *sqsEnv) { e.wantWait(t, e.queue(t, attrs{"ReceiveMessageWaitTimeSeconds": "2"}), 0) },
	},
	{
		id:  "sqs/long-poll/over-20s-rejected",
		doc: "ReceiveMessage: WaitTimeSeconds is 20 at most.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			_, err := e.c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &q, WaitTimeSeconds: 21})
			wantRejected(t, err)
		},
	},
	{
		id:  "sqs/long-poll/wakes-on-send",
		doc: "A long poll returns sooner than its wait time when a message arrives.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.wakes(t, q, 700*time.Millisecond, func(ctx context.Context) error {
				_, err := e.c.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("x")})
				return err
			})
		},
	},
	{
		id: "sqs/long-poll/wakes-on-visibility-expiry",
		doc: "A long poll returns sooner than its wait time when a message becomes available by the end of its " +
			"visibility timeout.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			e.receiveOne(t, q, 2)
			e.wakes(t, q, 2*time.Second, nil)
		},
	},
	{
		id:  "sqs/long-poll/wakes-on-visibility-change",
		doc: "A long poll returns sooner than its wait time when a message becomes available by ChangeMessageVisibility.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			m := e.receiveOne(t, q, 60)
			e.wakes(t, q, 700*time.Millisecond, func(ctx context.Context) error {
				_, err := e.c.ChangeMessageVisibility(
					ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &q, ReceiptHandle: m.ReceiptHandle},
				)
				return err
			})
		},
	},
	{
		id:  "sqs/long-poll/wakes-on-delay-end",
		doc: "A long poll returns sooner than its wait time when a message becomes available by the end of its delay.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.sendInput(t, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("d"), DelaySeconds: 2})
			e.wakes(t, q, 2*time.Second, nil)
		},
	},
	{
		id:        "sqs/long-poll/cancelled-poll-loses-nothing",
		doc:       "A long poll whose client has gone does not take a message that is sent later.",
		debatable: "the documentation is silent; it allows that messages are hidden when the response to a receive is lost",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			lost := 0
			for range 10 {
				ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
				_, err := e.c.ReceiveMessage(
					ctx, &sqs.ReceiveMessageInput{QueueUrl: &q, WaitTimeSeconds: 10, VisibilityTimeout: 30},
				)
				cancel()
				if err == nil {
					t.Fatalf("the cancelled receive returned no error")
				}
				wait(t, 60*time.Millisecond)
				e.send(t, q, "x")
				ms := e.receive(t, q, rcv{max: 1, vis: 30, wait: 1})
				if len(ms) == 0 {
					lost++
					continue
				}
				e.delete(t, q, ms[0])
			}
			equal(t, "taken of 10", lost, 0)
		},
	},
}
