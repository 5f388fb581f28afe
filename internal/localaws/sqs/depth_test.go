package sqs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

func operate(tb testing.TB, s *Service, operation string, in map[string]any) any {
	tb.Helper()
	out, err := try(tb.Context(), s, operation, in)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func try(ctx context.Context, s *Service, operation string, in map[string]any) (any, error) {
	if operation != "CreateQueue" {
		in = maps.Clone(in)
		in["QueueUrl"] = "http://localaws/1/" + in["QueueName"].(string)
		delete(in, "QueueName")
	}
	body, _ := json.Marshal(in)
	return s.Operate(ctx, &protocol.Request{Operation: operation, Body: body})
}

// A queue with the maximum number of messages in flight returns no more: a
// short poll gets an error, a long poll waits until a message is no longer in
// flight.
func TestMessagesInFlightAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(&Options{Region: "us-east-1", Account: "1"})
		operate(t, s, "CreateQueue", map[string]any{"QueueName": "q"})
		operate(t, s, "SendMessage", map[string]any{"QueueName": "q", "MessageBody": "x"})
		q := s.queues["q"]
		q.counts[inFlight] += maxInFlight
		_, err := try(t.Context(), s, "ReceiveMessage", map[string]any{"QueueName": "q"})
		if e, ok := errors.AsType[*protocol.Error](err); !ok || e.Code != "OverLimit" {
			t.Errorf("short poll: %v", err)
		}
		start := time.Now()
		out := operate(t, s, "ReceiveMessage", map[string]any{"QueueName": "q", "WaitTimeSeconds": 20})
		if n := len(out.(*receiveOutput).Messages); n != 0 || time.Since(start) != 20*time.Second {
			t.Errorf("long poll: %d messages after %s", n, time.Since(start))
		}
		q.counts[inFlight] -= maxInFlight
		out = operate(t, s, "ReceiveMessage", map[string]any{"QueueName": "q"})
		if n := len(out.(*receiveOutput).Messages); n != 1 {
			t.Errorf("with room: %d messages", n)
		}
	})
}

// A schedule returns messages in the order of time, also after changes and
// removals.
func TestScheduleReturnsMessagesInOrderOfTime(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0)
	s := schedule{which: toShow}
	var all [20]message
	for i := range all {
		s.put(&all[i], start.Add(time.Duration(i*7%20)*time.Second))
	}
	s.put(&all[3], start.Add(time.Hour)) // before: due at 1
	s.remove(&all[6])                    // before: due at 2
	s.remove(&all[6])
	var got []int
	for m := s.first(); m != nil; m = s.first() {
		got = append(got, int(m.due[toShow].Sub(start).Seconds()))
		s.remove(m)
	}
	if want := "[0 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 3600]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// filled is a queue with a given number of messages, and helpers that call it.
type filled struct {
	testing.TB
	service *Service
	name    string
	sent    int
}

func newFilled(tb testing.TB, name string, depth int) *filled {
	tb.Helper()
	f := &filled{TB: tb, service: New(&Options{Region: "us-east-1", Account: "1"}), name: name}
	create := map[string]any{"QueueName": name}
	if isFIFO(name) {
		create["Attributes"] = map[string]string{"FifoQueue": "true"}
	}
	operate(tb, f.service, "CreateQueue", create)
	for range depth {
		f.send()
	}
	return f
}

func (f *filled) send() {
	f.sent++
	in := map[string]any{"QueueName": f.name, "MessageBody": "x"}
	if isFIFO(f.name) {
		in["MessageGroupId"] = fmt.Sprint(f.sent % 100)
		in["MessageDeduplicationId"] = fmt.Sprint(f.sent)
	}
	operate(f, f.service, "SendMessage", in)
}

// turn sends, receives and deletes a message.
func (f *filled) turn() {
	f.send()
	out := operate(f, f.service, "ReceiveMessage", map[string]any{"QueueName": f.name})
	operate(f, f.service, "DeleteMessage", map[string]any{
		"QueueName": f.name, "ReceiptHandle": out.(*receiveOutput).Messages[0].ReceiptHandle,
	})
}

// hold receives messages and keeps them in flight.
func (f *filled) hold(n int) {
	for range n / maxReceive {
		operate(f, f.service, "ReceiveMessage", map[string]any{
			"QueueName": f.name, "MaxNumberOfMessages": maxReceive, "VisibilityTimeout": maxVisibility,
		})
	}
}

// The cost of a receive does not depend on the number of messages in the queue,
// visible or in flight. A linear search would cost thousands of times more.
func TestCostOfAReceiveDoesNotGrowWithTheDepth(t *testing.T) {
	t.Parallel()
	const shallow, deep, most = 10, 100_000, 50
	for _, name := range []string{"q", "q.fifo"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			few, many := newFilled(t, name, shallow), newFilled(t, name, deep)
			if !isFIFO(name) {
				many.hold(deep / 2)
			}
			a, b := quickest(few), quickest(many)
			if b > most*a {
				t.Errorf("a turn takes %s at a depth of %d, %s at %d", a, shallow, b, deep)
			}
		})
	}
}

// quickest returns the shortest time of several turns, the one with the least
// disturbance.
func quickest(f *filled) time.Duration {
	best := time.Hour
	for range 100 {
		start := time.Now()
		f.turn()
		best = min(best, time.Since(start))
	}
	return best
}

func BenchmarkReceiveAndDelete(b *testing.B) {
	for _, depth := range []int{10, 1_000, 100_000} {
		for _, name := range []string{"q", "q.fifo"} {
			b.Run(fmt.Sprintf("%s/%d", name, depth), func(b *testing.B) {
				f := newFilled(b, name, depth)
				for b.Loop() {
					f.turn()
				}
			})
		}
	}
}
