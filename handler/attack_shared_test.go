package handler_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/host"
)

// crowd is a processor that many batches share, each with jobs of all kinds, and with calls
// of the ledger and the queues that take any time up to a few seconds.
type crowd struct {
	*scene
	mu     sync.Mutex
	random *rand.Rand
	gone   map[string]bool // by message: whether it does not come back
}

func (c *crowd) int(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

func (c *crowd) float64() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.Float64()
}

// pause waits for up to most, mostly much less, and not longer than ctx.
func (c *crowd) pause(ctx context.Context, most time.Duration) {
	select {
	case <-time.After(time.Duration(c.float64() * c.float64() * c.float64() * float64(most))):
	case <-ctx.Done():
	}
}

func newCrowd(seed uint64) *crowd {
	c := &crowd{scene: newScene(), random: rand.New(rand.NewPCG(seed, 1)), gone: map[string]bool{}}
	o := c.options
	o.Concurrency, o.MaxReceives, o.Random, o.Breaker = 1+c.int(8), 6*c.int(2), c.float64, -1
	o.AwaitSettle = c.int(4) == 0
	c.ledger.ahead = c.int(2) == 0
	c.ledger.on = func(ctx context.Context, _ string, _ *handler.Message) { c.pause(ctx, 3*time.Second) }
	c.queues.onSend = func(ctx context.Context) { c.pause(ctx, 3*time.Second) }
	return c
}

var crowdBodies = []string{
	"1s", "200ms", "20s", "3m", "1s suspect", "10s suspect", "2m suspect", "1s reset", "200ms odd", "500ms permanent",
	"once 1s", "once 2s suspect",
}

// records makes a batch whose ids begin with a name.
func (c *crowd) records(name string) []events.SQSMessage {
	var records []events.SQSMessage
	fifo := c.int(3) == 0
	for i := range 1 + c.int(10) {
		r := received(1+c.int(7), record(fmt.Sprint(name, i), crowdBodies[c.int(len(crowdBodies))]))
		if c.int(5) == 0 {
			r = copyOf(fmt.Sprint(name, c.int(2)), r)
		}
		if fifo {
			r = grouped(fmt.Sprint(c.int(3)), r)
		}
		records = append(records, r)
	}
	return records
}

// batch hands out one batch, under a host that has a deadline, cancels, drains, or waits.
func (c *crowd) batch(t *testing.T, p *handler.Processor, name string) {
	draining := make(chan struct{})
	ctx, cancel := context.WithCancel(host.WithDraining(t.Context(), draining))
	limit := time.Duration(0)
	switch c.int(4) {
	case 0:
		limit = time.Duration(1+c.int(120)) * time.Second
		ctx, cancel = context.WithTimeout(ctx, limit)
	case 1:
		at := time.Duration(c.int(60)) * time.Second
		limit = at + 12*time.Second
		time.AfterFunc(at, cancel)
	case 2:
		time.AfterFunc(time.Duration(c.int(60))*time.Second, func() { close(draining) })
	}
	defer cancel()
	records := c.records(name)
	start := time.Now()
	response, err := p.Handle(ctx, event(records...))
	if err != nil {
		t.Error(err)
	}
	if took := time.Since(start); limit > 0 && took > limit || took > time.Hour {
		t.Errorf("%s took %v, limit %v", name, took, limit)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range records {
		c.gone[r.MessageId] = !slices.Contains(reported(response), r.MessageId)
	}
}

// judge compares what is gone with what the log says.
func (c *crowd) judge(t *testing.T) {
	t.Helper()
	ids, outcomes := c.logged(t, handler.LogOutcome, "messageId"), c.logged(t, handler.LogOutcome, "outcome")
	for i, id := range ids {
		gone := slices.Contains([]string{"done", "duplicate", "dead", "dropped"}, outcomes[i])
		if c.gone[id] != gone {
			t.Errorf("%s is %s, gone %v", id, outcomes[i], c.gone[id])
		}
	}
	if len(ids) != len(c.gone) {
		t.Errorf("%d lines for %d messages", len(ids), len(c.gone))
	}
	for id, beside := range c.beside {
		c.alone(t, id, beside)
	}
	for job, state := range c.ledger.states {
		if state.claimed {
			t.Errorf("the claim on %s was never settled", job)
		}
	}
}

// However many invocations share a process, and whenever they end: each Handle returns in
// time, no lone run has company before its minute is over, each claim is settled, and in
// the end the process is idle: nothing that was at work is forgotten.
func TestACrowdOfInvocationsLeavesTheProcessIdle(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		inBubble(t, fmt.Sprint(seed), func(t *testing.T) {
			c := newCrowd(seed)
			p := c.processor()
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					for j := range 3 {
						c.pause(t.Context(), 30*time.Second)
						c.batch(t, p, fmt.Sprintf("b%d-%d-", i, j))
					}
				})
			}
			all.Wait()
			synctest.Wait()
			c.judge(t)
			c.ledger.on, c.queues.onSend = nil, nil
			<-time.After(time.Hour) // for what stays away from suspects
			start := time.Now()
			ids := c.runIn(t, p, record("last", "suspect"), record("next", "once"))
			if took := time.Since(start); len(ids) > 0 || took > 0 {
				t.Errorf("the process is not idle: reported %v after %v", ids, took)
			}
		})
	}
}

// alone demands that a run that was counted ahead, and not taken back, had no company.
func (c *crowd) alone(t *testing.T, id string, beside []string) {
	counted := slices.Contains(c.events, "count "+id)
	for _, other := range beside {
		if counted && !slices.Contains(c.events, "uncount "+id) {
			t.Errorf("%s ran beside %s: %s", id, other, strings.Join(c.events, ", "))
		}
	}
}
