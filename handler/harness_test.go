package handler_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
)

const (
	standardARN = "arn:aws:sqs:eu-west-1:123456789012:jobs"
	fifoARN     = standardARN + ".fifo"
)

// queues stands for the source queue and the dead-letter queue, with faults.
type queues struct {
	mu       sync.Mutex
	letters  []handler.Letter
	hidden   map[string]time.Duration
	deleted  []string
	order    []string // what was called, in order
	packs    []int    // sizes of the sends
	sendErr  map[string]error
	hideErr  map[string]error
	killErr  map[string]error // of deletes
	onSend   func(ctx context.Context)
	logLines buffer
}

// buffer is a bytes.Buffer that may be read while it is written to.
type buffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

func newQueues() *queues { return &queues{hidden: map[string]time.Duration{}} }

func (q *queues) Send(ctx context.Context, letters []handler.Letter) {
	if q.onSend != nil {
		q.onSend(ctx)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.packs = append(q.packs, len(letters))
	for i := range letters {
		l := &letters[i]
		q.order = append(q.order, "send "+l.Message.MessageId)
		if l.Err = q.sendErr[l.Message.MessageId]; l.Err != nil {
			continue
		}
		l.DeadLetterID = "dead-" + l.Message.MessageId
		q.letters = append(q.letters, *l)
	}
}

func (q *queues) ChangeVisibility(ctx context.Context, changes []handler.VisibilityChange) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range changes {
		c := &changes[i]
		q.order = append(q.order, "hide "+c.Message.MessageId)
		c.Err = cmp.Or(q.hideErr[c.Message.MessageId], ctx.Err())
		if c.Done = c.Err == nil; c.Done {
			q.hidden[c.Message.MessageId] = c.Timeout
		}
	}
}

func (q *queues) Delete(_ context.Context, deletions []handler.Deletion) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range deletions {
		d := &deletions[i]
		q.order = append(q.order, "delete "+d.Message.MessageId)
		d.Err = q.killErr[d.Message.MessageId]
		if d.Done = d.Err == nil; d.Done {
			q.deleted = append(q.deleted, d.Message.MessageId)
		}
	}
}

// options wires the queues, with half-width randomness and a log to read.
func (q *queues) options() *handler.Options {
	return &handler.Options{
		DeadLetter: q,
		Queue:      q,
		Random:     func() float64 { return 0.5 },
		Logger:     slog.New(slog.NewJSONHandler(&q.logLines, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// outcomeOf gives the outcome, or another field, of the line of one message.
func (q *queues) outcomeOf(t *testing.T, id, field string) string {
	t.Helper()
	values := q.logged(t, handler.LogOutcome, field)
	for i, m := range q.logged(t, handler.LogOutcome, "messageId") {
		if m == id {
			return values[i]
		}
	}
	return "no line"
}

func (q *queues) dead() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	ids := []string{}
	for _, l := range q.letters {
		ids = append(ids, l.Message.MessageId)
	}
	return ids
}

// logged gives, in order, the values of one field of the lines with a message.
func (q *queues) logged(t *testing.T, message, field string) []string {
	t.Helper()
	var values []string
	for line := range strings.Lines(q.logLines.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if fields["msg"] != message {
			continue
		}
		value, _ := fields[field].(string)
		values = append(values, value)
	}
	return values
}

// record is one message of an event; edit it further where a test needs it.
func record(id, body string) events.SQSMessage {
	return events.SQSMessage{
		MessageId:      id,
		ReceiptHandle:  "receipt-" + id,
		Body:           body,
		EventSource:    "aws:sqs",
		EventSourceARN: standardARN,
		Attributes:     map[string]string{"ApproximateReceiveCount": "1"},
	}
}

func received(times int, r events.SQSMessage) events.SQSMessage {
	r.Attributes["ApproximateReceiveCount"] = strconv.Itoa(times)
	return r
}

func grouped(group string, r events.SQSMessage) events.SQSMessage {
	r.EventSourceARN = fifoARN
	r.Attributes["MessageGroupId"] = group
	return r
}

func event(records ...events.SQSMessage) events.SQSEvent {
	return events.SQSEvent{Records: records}
}

// must gives what a constructor made.
func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

// newProcessor is one that is made rightly.
func newProcessor(h handler.Handler, o *handler.Options) *handler.Processor {
	return must(handler.NewProcessor(h, o))
}

func handle(t *testing.T, p *handler.Processor, records ...events.SQSMessage) []string {
	t.Helper()
	response, err := p.Handle(t.Context(), event(records...))
	if err != nil {
		t.Fatalf("Handle: %v", err)
	}
	return reported(response)
}

func reported(response events.SQSEventResponse) []string {
	ids := []string{}
	for _, f := range response.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	slices.Sort(ids)
	return ids
}

// byBody runs the function that a script names for the message's body.
func byBody(script map[string]func(context.Context, *handler.Message) error) handler.Func {
	return func(ctx context.Context, m *handler.Message) error {
		if f := script[m.Body]; f != nil {
			return f(ctx, m)
		}
		return nil
	}
}

func fails(err error) func(context.Context, *handler.Message) error {
	return func(context.Context, *handler.Message) error { return err }
}

// call runs a handler outside of a processor.
func call(ctx context.Context, h handler.Handler, m *handler.Message) error {
	work, err := h.Prepare(ctx, m)
	if err != nil {
		return err
	}
	return work(ctx)
}

// prepares is a handler that looks at a message before it is claimed, and then runs.
type prepares struct {
	look func(ctx context.Context, m *handler.Message) error
	run  handler.Func // nil does nothing
}

func (p prepares) Prepare(ctx context.Context, m *handler.Message) (func(context.Context) error, error) {
	if err := p.look(ctx, m); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if p.run == nil {
			return nil
		}
		return p.run(ctx, m)
	}, nil
}
