package runqueue_test

import (
	"fmt"
	"testing"

	"github.com/sqsafe/sqsafe/internal/runqueue"
)

// owner answers every action with success, as fast as possible.
type owner struct {
	q    *runqueue.Queue
	jobs []string
	// unsettled is what a claim answers.
	unsettled int
	open      []runqueue.Action
	did       [runqueue.Defer + 1]int
}

// finish answers all that is asked until every delivery has ended, the newest first.
func (c *owner) finish() {
	for c.do(c.q.Next()); !c.q.Idle(); {
		c.step(len(c.open) - 1)
	}
}

// step answers one of what is asked.
func (c *owner) step(n int) {
	a := c.open[n]
	last := len(c.open) - 1
	c.open[n], c.open = c.open[last], c.open[:last]
	switch a.Kind {
	case runqueue.Decode:
		c.q.Identified(a.Index, c.jobs[a.Index])
	case runqueue.Claim:
		c.q.Claimed(a.Index, c.unsettled, 0)
	case runqueue.Start, runqueue.StartAlone:
		c.q.Settling(a.Index, true)
		c.q.Ended(a.Index, true)
	case runqueue.Release, runqueue.Bury:
		c.q.Ended(a.Index, true)
	case runqueue.Ask:
		c.q.Granted(a.Index)
	}
	c.do(c.q.Next())
}

func (c *owner) do(actions []runqueue.Action) {
	for _, a := range actions {
		c.did[a.Kind]++
		if a.Kind != runqueue.Defer && a.Kind != runqueue.Free {
			c.open = append(c.open, a)
		}
	}
}

// BenchmarkBatch takes batches through. The time of a delivery does not grow with the
// batch.
func BenchmarkBatch(b *testing.B) {
	ledger := runqueue.Config{Slots: 10, Ahead: 10, Unsettled: 20, Unsent: 10, MaxReceives: 30, Ledger: true}
	plain := ledger
	plain.Ledger, plain.Ahead = false, 0
	own := func(i int) string { return fmt.Sprint("job ", i) }
	tests := []struct {
		name      string
		config    runqueue.Config
		receives  int
		group     int
		job       func(int) string
		unsettled int
		cut       bool
	}{
		{"ledger", ledger, 1, 0, own, 0, false},
		{"no ledger", plain, 1, 0, own, 0, false},
		{"redelivered", ledger, 2, 0, own, 1, false},
		{"suspects", ledger, 2, 0, own, 2, false},
		{"copies", ledger, 1, 0, func(int) string { return "job" }, 0, false},
		{"one group", ledger, 1, 1, own, 0, false},
		{"last receives after the cut", ledger, 30, 0, own, 0, true},
	}
	for _, tt := range tests {
		for _, n := range []int{100, 1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", tt.name, n), func(b *testing.B) {
				jobs, deliveries := make([]string, n), make([]runqueue.Delivery, n)
				for i := range n {
					jobs[i], deliveries[i] = tt.job(i), runqueue.Delivery{Receives: tt.receives, Group: tt.group}
				}
				b.ReportAllocs()
				for b.Loop() {
					c := &owner{q: runqueue.New(deliveries, tt.config), jobs: jobs, unsettled: tt.unsettled}
					if tt.cut {
						c.q.Cut()
					}
					c.finish()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/delivery")
			})
		}
	}
}
