package eventsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/eventsource"
)

const standardARN = "arn:aws:sqs:eu-west-1:123456789012:charges"

func mapping() eventsource.Mapping {
	return eventsource.Mapping{
		QueueURL: "http://queues/123456789012/charges", QueueARN: standardARN,
		ReportBatchItemFailures: true, Concurrency: 1,
	}
}

// queue is a fake of SQS that delivers each message once. It works inside a
// synctest bubble.
type queue struct {
	mu       sync.Mutex
	begin    time.Time
	arrivals []arrival
	// receiveErrors are the errors of the first receives.
	receiveErrors []error
	// failDelete may return a failure for an entry; call counts the calls from
	// 1.
	failDelete func(call int, receipt string) *types.BatchResultErrorEntry
	// deleteErr is the error of all deletes, if set.
	deleteErr error
	// forget leaves all entries out of the results.
	forget bool

	receives []receive
	deletes  [][]string // receipt handles by call
	inputs   []*sqs.ReceiveMessageInput
}

type arrival struct {
	at  time.Duration
	msg types.Message
}

type receive struct {
	At   time.Duration
	Most int32
	Wait int32
	Got  int
}

func newQueue(arrivals ...arrival) *queue { return &queue{begin: time.Now(), arrivals: arrivals} }

// at returns messages named m<from> to m<to> that arrive at the same time.
func at(d time.Duration, from, to int) []arrival {
	var list []arrival
	for i := from; i <= to; i++ {
		list = append(list, arrival{d, message(fmt.Sprintf("m%d", i), "body")})
	}
	return list
}

func message(id, body string) types.Message {
	return types.Message{
		MessageId: aws.String(id), ReceiptHandle: aws.String("receipt of " + id), Body: aws.String(body),
		Attributes: map[string]string{"ApproximateReceiveCount": "1"},
	}
}

func (q *queue) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (
	*sqs.ReceiveMessageOutput, error) {
	r := receive{At: time.Since(q.begin), Most: in.MaxNumberOfMessages, Wait: in.WaitTimeSeconds}
	messages, err := q.wait(ctx, int(r.Most), time.Duration(r.Wait)*time.Second)
	q.mu.Lock()
	defer q.mu.Unlock()
	r.Got = len(messages)
	q.receives, q.inputs = append(q.receives, r), append(q.inputs, in)
	return &sqs.ReceiveMessageOutput{Messages: messages}, err
}

func (q *queue) wait(ctx context.Context, most int, wait time.Duration) ([]types.Message, error) {
	if err := q.nextError(); err != nil {
		return nil, err
	}
	end := time.Now().Add(wait)
	for {
		messages, next := q.take(most)
		rest := min(next, time.Until(end))
		if len(messages) > 0 || rest <= 0 {
			return messages, nil
		}
		timer := time.NewTimer(rest)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

func (q *queue) nextError() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.receiveErrors) == 0 {
		return nil
	}
	err := q.receiveErrors[0]
	q.receiveErrors = q.receiveErrors[1:]
	return err
}

// take returns the messages that have arrived, or the time until the next one
// arrives.
func (q *queue) take(most int) ([]types.Message, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var got []types.Message
	for len(q.arrivals) > 0 && len(got) < most {
		if wait := q.arrivals[0].at - time.Since(q.begin); wait > 0 {
			return got, wait
		}
		got = append(got, q.arrivals[0].msg)
		q.arrivals = q.arrivals[1:]
	}
	return got, time.Hour
}

func (q *queue) DeleteMessageBatch(ctx context.Context, in *sqs.DeleteMessageBatchInput, _ ...func(*sqs.Options)) (
	*sqs.DeleteMessageBatchOutput, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	call := make([]string, 0, len(in.Entries))
	out := &sqs.DeleteMessageBatchOutput{}
	for _, e := range in.Entries {
		call = append(call, *e.ReceiptHandle)
		if failed := q.failure(len(q.deletes)+1, *e.ReceiptHandle); failed != nil {
			failed.Id = e.Id
			out.Failed = append(out.Failed, *failed)
		} else if !q.forget {
			out.Successful = append(out.Successful, types.DeleteMessageBatchResultEntry{Id: e.Id})
		}
	}
	q.deletes = append(q.deletes, call)
	return out, q.deleteErr
}

func (q *queue) failure(call int, receipt string) *types.BatchResultErrorEntry {
	if q.failDelete == nil {
		return nil
	}
	return q.failDelete(call, receipt)
}

// function is a fake of the Lambda function.
type function func(ctx context.Context, event []byte) ([]byte, error)

func (f function) Invoke(ctx context.Context, event []byte) ([]byte, error) { return f(ctx, event) }

func answers(text string) function {
	return func(context.Context, []byte) ([]byte, error) { return []byte(text), nil }
}

var errFunction = errors.New("Runtime.ExitError: signal: killed")

// recording records the events of a run of a poller.
type recording struct {
	mu     sync.Mutex
	events []eventsource.Event
}

func (s *recording) observe(e eventsource.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
}

// lines formats the events with the names of their messages.
func (s *recording) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, e := range s.events {
		line := string(e.Kind)
		for _, m := range e.Messages {
			line += " " + m.ID
		}
		lines = append(lines, line)
	}
	return lines
}

func (s *recording) of(kind eventsource.Kind) []eventsource.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.events), func(e eventsource.Event) bool { return e.Kind != kind })
}

// run runs a poller for d of the bubble's time.
func run(t *testing.T, m eventsource.Mapping, q *queue, f function, d time.Duration) *recording {
	t.Helper()
	s := &recording{}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := eventsource.New(q, f, m, &eventsource.Options{Observe: s.observe}).Run(ctx); err != nil {
		t.Fatalf("Run: %v", err)
	}
	return s
}

// records returns the messages of an event that a function received.
func records(t *testing.T, event []byte) []events.SQSMessage {
	t.Helper()
	var e events.SQSEvent
	if err := json.Unmarshal(event, &e); err != nil {
		t.Errorf("event %.200s: %v", event, err)
	}
	return e.Records
}

func numbered(from, to int) []string {
	var list []string
	for i := from; i <= to; i++ {
		list = append(list, "m"+strconv.Itoa(i))
	}
	return list
}
