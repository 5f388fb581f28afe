package sqs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

// manualClock is a clock that only moves when the test calls advance.
type manualClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *manualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *manualClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// AfterFunc does nothing: short polls do not use timers.
func (c *manualClock) AfterFunc(time.Duration, func()) func() bool {
	return func() bool { return true }
}

// modelMessage is a message in the model.
type modelMessage struct {
	body, group string
	receives    int
	until       time.Time // in flight before that time
	handle      string
}

// model is a FIFO queue with a dead-letter queue, modelled as a list.
type model struct {
	t        *rapid.T
	clock    *manualClock
	service  *sqs.Service
	messages []*modelMessage
	sent     int
}

const modelMaxReceives = 3

func (m *model) call(operation, queue string, in map[string]any) map[string]any {
	if operation != "CreateQueue" {
		in["QueueUrl"] = "/000000000000/" + queue
	}
	body, _ := json.Marshal(in)
	out, err := m.service.Operate(m.t.Context(), &protocol.Request{Operation: operation, Body: body})
	if err != nil {
		m.t.Fatalf("%s: %v", operation, err)
	}
	text, _ := json.Marshal(out)
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		m.t.Fatal(err)
	}
	return answer
}

func (m *model) send(t *rapid.T) {
	m.sent++
	message := &modelMessage{body: fmt.Sprint(m.sent), group: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group")}
	m.call("SendMessage", "q.fifo", map[string]any{"MessageBody": message.body, "MessageGroupId": message.group})
	m.messages = append(m.messages, message)
}

func (m *model) inFlight(x *modelMessage) bool { return x.until.After(m.clock.Now()) }

// receive checks a receive: of every group it returned the first messages of
// the model, up to the first in flight, and no free group was left out while there
// was room.
func (m *model) receive(t *rapid.T) {
	free, blocked := map[string][]*modelMessage{}, map[string]bool{}
	available, exhausted := 0, 0
	for _, x := range m.messages {
		blocked[x.group] = blocked[x.group] || m.inFlight(x)
		switch {
		case blocked[x.group]:
		case x.receives == modelMaxReceives:
			exhausted++
		default:
			free[x.group] = append(free[x.group], x)
			available++
		}
	}
	limit := rapid.IntRange(1, 10).Draw(t, "limit")
	timeout := rapid.IntRange(1, 5).Draw(t, "timeout")
	out := m.call("ReceiveMessage", "q.fifo", map[string]any{"MaxNumberOfMessages": limit, "VisibilityTimeout": timeout})
	got, _ := out["Messages"].([]any)
	if want := min(limit, available); len(got) != want {
		t.Fatalf("received %d of %d", len(got), want)
	}
	moved := m.drain()
	if len(got) < limit && moved != exhausted {
		t.Fatalf("%d messages moved of %d", moved, exhausted)
	}
	for _, g := range got {
		g := g.(map[string]any)
		x := m.find(g["Body"])
		if free[x.group][0] != x {
			t.Fatalf("received %s before %s", x.body, free[x.group][0].body)
		}
		free[x.group] = free[x.group][1:]
		x.receives++
		x.until, x.handle = m.clock.Now().Add(time.Duration(timeout)*time.Second), g["ReceiptHandle"].(string)
	}
}

func (m *model) find(body any) *modelMessage {
	i := slices.IndexFunc(m.messages, func(x *modelMessage) bool { return x.body == body })
	if i < 0 {
		m.t.Fatalf("received %v, which is gone", body)
	}
	return m.messages[i]
}

func (m *model) drop(x *modelMessage) {
	m.messages = slices.DeleteFunc(m.messages, func(y *modelMessage) bool { return x == y })
}

// drain empties the dead-letter queue and checks that its messages were
// received the maximum number of times. It returns how many there were.
func (m *model) drain() (moved int) {
	for {
		got, _ := m.call("ReceiveMessage", "dead.fifo", map[string]any{"MaxNumberOfMessages": 10})["Messages"].([]any)
		if len(got) == 0 {
			return moved
		}
		for _, g := range got {
			g := g.(map[string]any)
			x := m.find(g["Body"])
			if x.receives != modelMaxReceives || m.inFlight(x) {
				m.t.Fatalf("moved %s after %d receives", x.body, x.receives)
			}
			m.drop(x)
			m.call("DeleteMessage", "dead.fifo", map[string]any{"ReceiptHandle": g["ReceiptHandle"]})
			moved++
		}
	}
}

func (m *model) settle(t *rapid.T, operation string, extra map[string]any, done func(x *modelMessage)) {
	i := slices.IndexFunc(m.messages, m.inFlight)
	if i < 0 {
		t.Skip("nothing in flight")
	}
	x := m.messages[i]
	extra["ReceiptHandle"] = x.handle
	m.call(operation, "q.fifo", extra)
	done(x)
}

func (m *model) delete(t *rapid.T) { m.settle(t, "DeleteMessage", map[string]any{}, m.drop) }

func (m *model) change(t *rapid.T) {
	seconds := rapid.IntRange(0, 5).Draw(t, "seconds")
	m.settle(t, "ChangeMessageVisibility", map[string]any{"VisibilityTimeout": seconds}, func(x *modelMessage) {
		x.until = m.clock.Now().Add(time.Duration(seconds) * time.Second)
	})
}

// check compares the counts.
func (m *model) check(t *rapid.T) {
	inFlight := 0
	for _, x := range m.messages {
		if m.inFlight(x) {
			inFlight++
		}
	}
	for _, q := range m.service.Stats() {
		if q.Name == "q.fifo" && (q.Visible != len(m.messages)-inFlight || q.NotVisible != inFlight || q.Delayed != 0) {
			t.Fatalf("counts: %+v, want %d messages, %d in flight", q, len(m.messages), inFlight)
		}
	}
}

// Random histories of a FIFO queue: every receive returns the first messages of
// the free groups in order, as many as possible, and no message is lost.
func TestFIFOQueueMatchesTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clock := &manualClock{now: time.Unix(1_700_000_000, 0)}
		m := &model{t: t, clock: clock, service: sqs.New(&sqs.Options{
			Clock: clock, Region: "us-east-1", Account: "000000000000",
		})}
		create := func(name, policy string) {
			m.call("CreateQueue", name, map[string]any{"QueueName": name, "Attributes": map[string]string{
				"FifoQueue": "true", "ContentBasedDeduplication": "true", "RedrivePolicy": policy,
			}})
		}
		create("dead.fifo", "")
		create("q.fifo", fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`,
			"arn:aws:sqs:us-east-1:000000000000:dead.fifo", modelMaxReceives))
		t.Repeat(map[string]func(*rapid.T){
			"send":    m.send,
			"receive": m.receive,
			"delete":  m.delete,
			"change":  m.change,
			"wait":    func(*rapid.T) { clock.advance(time.Second) },
			"":        m.check,
		})
	})
}

// For any input, the response can be marshalled or is an error of the protocol.
func FuzzOperate(f *testing.F) {
	for _, body := range []string{
		`{"QueueUrl":"/000000000000/q","MessageBody":"x"}`, `{"QueueName":"r","Attributes":{"RedrivePolicy":"{}"}}`,
		`{"QueueUrl":"/000000000000/q","Entries":[{"Id":"a","ReceiptHandle":"YSBiIGM="}]}`, `[]`, `{"QueueUrl":7}`,
		`{"QueueUrl":"/000000000000/q","MaxNumberOfMessages":-1}`, `{"NextToken":"YQ=="}`,
	} {
		for _, operation := range []string{"SendMessage", "CreateQueue", "DeleteMessageBatch", "ReceiveMessage", "Nope"} {
			f.Add(operation, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, operation string, body []byte) {
		service := sqs.New(&sqs.Options{
			Clock: &manualClock{now: time.Unix(1_700_000_000, 0)}, Region: "us-east-1", Account: "000000000000",
		})
		requests := []*protocol.Request{
			{Operation: "CreateQueue", Body: []byte(`{"QueueName":"q"}`)}, {Operation: operation, Body: body},
		}
		for _, r := range requests {
			// The context is cancelled, so a long poll ends at once.
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			out, err := service.Operate(ctx, r)
			if err != nil {
				if _, ok := errors.AsType[*protocol.Error](err); !ok && !errors.Is(err, context.Canceled) {
					t.Fatalf("%s: %v is no refusal", operation, err)
				}
				continue
			}
			if _, err := json.Marshal(out); err != nil {
				t.Fatal(err)
			}
		}
	})
}
