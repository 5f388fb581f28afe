package idem_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
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
	queue, h.postage = &remote{}, roundTrip
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
		{"a standard queue, in order", "", 1, false, 2, false},
		{"a standard queue, side by side", "", 10, false, 2, false},
		{"a standard queue, each awaited", "", 1, true, 11, false},
		{"one FIFO group", "g", 1, false, 11, true},
		{"one FIFO group, much room", "g", 10, false, 11, true},
		{"one FIFO group, each awaited", "g", 1, true, 11, true},
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

// Ten jobs that fail side by side take as many round trips as one. In a FIFO group each
// waits for the verdict on the one before and for its letter.
func TestRoundTripsOfTenThatFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, group string
		err         error
		outcome     string
		writes      int // to the table
		most        float64
	}{
		{"retried", "", errTimeout, "retry provider", 20, 3},
		{"dead", "", errCard, "dead card", 30, 4},
		{"dead in a FIFO group", "g", errCard, "dead card", 30, 22},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.posts, h.engine.Breaker = true, -1
				h.fails(c.err)
				trips, i, _ := h.far(10, ten(c.group))
				i.wantOutcomes(map[string]int{c.outcome: 10})
				if writes := len(h.calls) - h.count("send"); trips > c.most || writes != c.writes {
					h.Errorf("%v round trips and %d writes, want at most %v and %d", trips, writes, c.most, c.writes)
				}
			})
		})
	}
}

// A group whose head dies goes on when the letter has arrived.
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
		i.wantOutcomes(map[string]int{"dead card": 1, "done": 9})
		if trips > 12 {
			h.Errorf("%v round trips, want 12: one for the claim, one for each job, and one for the letter", trips)
		}
	})
}

// The next job of a group is claimed while the one before is written, and it starts only
// when that has been written. If it could not be written, the claim costs nothing.
func TestAClaimAheadInAGroupIsGivenBack(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.faults.Before = func(_ context.Context, c idemtest.Call) error {
			pass(roundTrip)
			if string(c) == idem.SettleComplete.String() {
				pass(roundTrip)
				return errStore
			}
			return nil
		}
		messages := ten("g")[:3]
		i := h.invoke(1).batch(messages...)
		i.wantOutcomes(map[string]int{"unrecorded idempotency_store": 1, "deferred group_head": 2})
		if h.runs != 1 || h.count("acquire") != 2 || h.count("abort") != 1 {
			h.Errorf("the store was asked for %q", h.calls)
		}
		for _, id := range []string{"m1", "m2"} {
			if delay := i.result(id).Delay; delay != i.result("m0").Delay {
				h.Errorf("%s comes back after %v, want with the first one", id, delay)
			}
		}
		h.faults.Before = nil
		again := h.invoke(1).batch(messages[1:]...)
		again.wantOutcomes(map[string]int{"done": 2})
		if job := again.result("m1").Job; job.Attempts != 0 || job.Crashes != 0 || job.History.Len() != 0 {
			h.Errorf("the claim that was given back cost something: %+v", job)
		}
	})
}

// What is found out about a job before its turn does not end it before its turn.
func TestAJobOfAGroupEndsInItsTurn(t *testing.T) {
	t.Parallel()
	refuse := func(h *harness) {
		h.options.Key = func(_ context.Context, m *handler.Message) (string, error) {
			if m.MessageId == "m1" {
				return "", errCard
			}
			return m.MessageId, nil
		}
	}
	for _, c := range []struct {
		name    string
		prepare func(h *harness)
		store   error // of the write that completes the first
		want    map[string]int
	}{
		{"refused", refuse, nil, map[string]int{"done": 2, "dead card": 1}},
		{
			"refused behind a failure", refuse, errStore,
			map[string]int{"unrecorded idempotency_store": 1, "deferred group_head": 2},
		},
		{
			"done before", func(h *harness) { h.deliver(ten("g")[1]) }, nil,
			map[string]int{"done": 2, "duplicate completed": 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				h.posts = true
				c.prepare(h)
				h.calls = nil
				h.faults.Before = func(_ context.Context, call idemtest.Call) error {
					pass(roundTrip)
					if string(call) == idem.SettleComplete.String() {
						return c.store
					}
					return nil
				}
				h.invoke(1).batch(ten("g")[:3]...).wantOutcomes(c.want)
				if c.store != nil && h.count("send") > 0 {
					h.Errorf("a letter went out behind a failure: %q", h.calls)
				}
			})
		})
	}
}
