package idem_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// roundTrip is how long each call of table and queue takes, over connections that are
// open: no call waits for another.
const roundTrip = 10 * time.Millisecond

// remote is a queue that is one round trip away.
type remote struct {
	mu         sync.Mutex
	visibility int // calls
	hidden     int // messages
}

func (r *remote) ChangeVisibility(_ context.Context, changes []handler.VisibilityChange) {
	pass(roundTrip)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.visibility++
	r.hidden += len(changes)
	for i := range changes {
		changes[i].Done = true
	}
}

func (r *remote) Delete(_ context.Context, deletions []handler.Deletion) {
	pass(roundTrip)
	for i := range deletions {
		deletions[i].Done = true
	}
}

// ten are new jobs, in one FIFO group if there is one.
func ten(group string) []*handler.Message {
	messages := make([]*handler.Message, 10)
	for n := range messages {
		messages[n] = message(fmt.Sprint("m", n), "a")
		if group != "" {
			messages[n].EventSourceARN += ".fifo"
			messages[n].Attributes["MessageGroupId"] = group
		}
	}
	return messages
}

// far is a harness whose table and queue are one round trip away. It gives how many
// round trips a batch takes.
func (h *harness) far(concurrency int, messages []*handler.Message) (trips float64, i *invocation, queue *remote) {
	h.Helper()
	h.faults.Before = func(ctx context.Context, _ idemtest.Call) error { return until(ctx, roundTrip) }
	queue = &remote{}
	i = h.invoke(concurrency)
	i.Queue = queue
	begin := time.Now()
	i.batch(messages...)
	return float64(time.Since(begin)) / float64(roundTrip), i, queue
}

// count is the number of calls of that name.
func (h *harness) count(call string) int {
	n := 0
	for _, c := range h.calls {
		if c == call {
			n++
		}
	}
	return n
}

func TestRoundTripsOfTenNewJobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		group       string
		concurrency int
		await       bool
		most        float64
		inOrder     bool
	}{
		{"a standard queue, in order", "", 1, false, 3, false},
		{"a standard queue, side by side", "", 10, false, 3, false},
		{"a standard queue, each awaited", "", 1, true, 11, false},
		{"one FIFO group", "g", 1, false, 20, true},
		{"one FIFO group, much room", "g", 10, false, 20, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.engine.AwaitSettle = c.await
				var order []string
				h.job = func(_ context.Context, m *handler.Message) error {
					h.called("run", func() { order = append(order, m.MessageId) })
					return nil
				}
				trips, i, queue := h.far(c.concurrency, ten(c.group))
				h.Logf("%s: %v round trips, %d writes", c.name, trips, h.count("acquire")+h.count("complete"))
				if trips > c.most {
					h.Errorf("%v round trips, want at most %v", trips, c.most)
				}
				done := i.outcomes()["done"]
				if done != 10 || h.count("acquire") != 10 || h.count("complete") != 10 || queue.visibility != 0 {
					h.Errorf("%d are done by %q", done, h.calls)
				}
				if c.inOrder && !slices.IsSorted(order) {
					h.Errorf("they ran as %q", order)
				}
			})
		})
	}
}

// A group whose head fails costs two writes to the table and one call to the queue, for
// which all of the group is one.
func TestRoundTripsOfAGroupWhoseHeadFails(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.fails(errTimeout)
		trips, i, queue := h.far(1, ten("g"))
		h.Logf("a FIFO group whose head fails: %v round trips, %d writes to the table, %d call to the queue",
			trips, len(h.calls), queue.visibility)
		i.wantOutcomes(map[string]int{"retry provider": 1, "deferred group_head": 9})
		h.asks("acquire", "release")
		if queue.visibility != 1 || queue.hidden != 10 || trips > 3 {
			h.Errorf("%d calls hide %d messages, in %v round trips; want one for ten, in 3",
				queue.visibility, queue.hidden, trips)
		}
	})
}

// A group whose head dies goes on when the letter is sent and confirmed.
func TestRoundTripsOfAGroupWhoseHeadDies(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.posts = true
		h.job = func(_ context.Context, m *handler.Message) error {
			if m.MessageId == "m0" {
				return errCard
			}
			return nil
		}
		trips, i, _ := h.far(1, ten("g"))
		h.Logf("a FIFO group whose head dies: %v round trips", trips)
		i.wantOutcomes(map[string]int{"dead card": 1, "done": 9})
		if trips > 21 {
			h.Errorf("%v round trips, want 21: two for each job, and one to confirm the letter", trips)
		}
	})
}
