package handler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// pressure is a burst of jobs of which only some of a batch find time.
type pressure struct {
	hosts, jobs, batch, maxReceives, concurrency int
	// percent is what each job takes of the time for jobs.
	percent int
	// ignores reports whether jobs ignore their contexts, groups is the number of FIFO
	// groups; 0 for a standard queue.
	ignores bool
	groups  int
}

func (p pressure) String() string {
	return fmt.Sprintf("maxReceiveCount %d, batch %d, %d%% of the time, concurrency %d, hosts %d, ignores %v, groups %d",
		p.maxReceives, p.batch, p.percent, p.concurrency, p.hosts, p.ignores, p.groups)
}

// play hands out the jobs until all are gone.
func (p pressure) play(t *testing.T) *fleet {
	const timeout, forJobs = 10 * time.Second, 8 * time.Second
	f := &fleet{
		t: t, hosts: p.hosts, batch: p.batch, timeout: timeout, maxReceives: p.maxReceives, latency: 5 * time.Millisecond,
		handler: handler.Func(func(ctx context.Context, m *handler.Message) error {
			if p.ignores {
				ctx = context.WithoutCancel(ctx)
			}
			return takes(forJobs*time.Duration(p.percent)/100)(ctx, m)
		}),
		options: handler.Options{Concurrency: p.concurrency, Random: seeded()},
	}
	for i := range p.jobs {
		if j := f.send(0, "x"); p.groups > 0 {
			j.group = fmt.Sprint("g", i%p.groups)
		}
	}
	f.run(14 * 24 * time.Hour)
	return f
}

// No job is dead for want of time, however few receives there are: what finds no time
// comes back when there is some.
func TestFewReceivesBuryNoJob(t *testing.T) {
	t.Parallel()
	hosts, batches, concurrencies, jobs := []int{1, 5}, []int{1, 5, 10}, []int{1, 8}, 240
	if testing.Short() {
		hosts, batches, concurrencies, jobs = []int{1}, []int{10}, []int{1}, 120
	}
	var all []pressure
	for _, p := range []pressure{{maxReceives: 3}, {maxReceives: 5}, {maxReceives: 10}, {maxReceives: 30}} {
		for _, p.percent = range []int{10, 50, 62, 75} {
			for _, p.ignores = range []bool{false, true} {
				for _, p.batch = range batches {
					for _, p.concurrency = range concurrencies {
						for _, p.hosts = range hosts {
							p.jobs = jobs
							all = append(all, p)
						}
					}
				}
			}
		}
	}
	// A message of a FIFO queue is received with all before it, up to the size of a batch.
	for _, p := range []pressure{{maxReceives: 10, batch: 5}, {maxReceives: 30, batch: 10}} {
		for _, p.ignores = range []bool{false, true} {
			for _, p.groups = range []int{1, 8} {
				p.jobs, p.hosts, p.concurrency, p.percent = 80, 1, 1, 50
				all = append(all, p)
			}
		}
	}
	for _, p := range all {
		inBubble(t, p.String(), func(t *testing.T) {
			f := p.play(t)
			f.requireDone(anyJob)
			if f.processes != p.hosts {
				t.Errorf("%d processes for %d hosts: jobs were left behind", f.processes, p.hosts)
			}
		})
	}
}

// With two receives nothing can promise that a job finds time: it comes back once, and may
// find another there. Few of them do.
func TestTwoReceivesAreTooFewForBatchesThatDoNotEnd(t *testing.T) {
	t.Parallel()
	inBubble(t, "two", func(t *testing.T) {
		f := pressure{hosts: 1, jobs: 240, batch: 10, maxReceives: 2, concurrency: 1, percent: 50}.play(t)
		dead := 0
		for _, j := range f.jobs {
			switch {
			case j.dead != "":
				dead++
				if j.dead != handler.ReasonMaxReceives {
					t.Errorf("%s died by %q, want a record", j.id, j.dead)
				}
			case j.done.IsZero():
				t.Errorf("%s is neither done nor dead", j.id)
			}
		}
		t.Logf("%d dead", dead)
		if dead > 24 {
			t.Errorf("%d of 240 jobs died, want a tenth at most", dead)
		}
	})
}
