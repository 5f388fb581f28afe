package handler_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// E4: jobs of 3 s that ignore their context, ten in a batch, one at a time, with 10 s for
// each batch: all are done.
func TestJobsThatIgnoreTheirContextAreAllDone(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 4} {
		for _, hosts := range []int{1, 5} {
			inBubble(t, fmt.Sprintf("concurrency %d, %d hosts", concurrency, hosts), func(t *testing.T) {
				f := &fleet{
					t: t, hosts: hosts, timeout: 10 * time.Second, visibility: time.Minute, maxReceives: 30,
					latency: 5 * time.Millisecond,
					handler: handler.Func(func(context.Context, *handler.Message) error { <-time.After(3 * time.Second); return nil }),
					options: handler.Options{Concurrency: concurrency, Random: seeded()},
				}
				for range 240 {
					f.send(0, "x")
				}
				f.run(24 * time.Hour)
				f.requireDone(anyJob)
				most := 0
				for _, j := range f.jobs {
					most = max(most, j.receives)
				}
				median, p99, longest := f.waits(anyJob)
				t.Logf("crashes %d, most receives %d, done after median %v, p99 %v, all %v",
					f.processes-hosts, most, median, p99, longest)
			})
		}
	}
}

var simSeed = flag.Uint64("simseed", 1, "the seed of simulated queues and of their processors' jitter")

// seeded gives the same numbers in each run of a test. Which goroutine gets which of them
// is up to the scheduler.
func seeded() func() float64 {
	r := rand.New(rand.NewPCG(*simSeed, 2))
	lock := make(chan struct{}, 1)
	return func() float64 {
		lock <- struct{}{}
		defer func() { <-lock }()
		return r.Float64()
	}
}

// worked is a job that takes as long as its body says, and then what steps say.
func worked() handler.Handler { return handler.Func(steps) }

// A long run, or one that hung, does not keep a warm process from starting short jobs for
// long.
func TestBatchesAreSoonWholeAgainAfterALongRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		first       string
		batch, jobs int
		each        time.Duration // between two jobs
		concurrency int
		most        int // deferrals
	}{
		{"one run of 26.9 s, then a thousand at once", "26900ms", 10, 1000, 0, 1, 30},
		{"then a thousand in batches of a hundred", "26900ms", 100, 1000, 0, 1, 200},
		{"then a thousand in one batch", "26900ms", 1000, 1000, 0, 1, 2000},
		{"one hung call, then three a second", "1h", 10, 300, 333 * time.Millisecond, 10, 10},
		{"one run of 26.9 s, then three a second", "26900ms", 10, 300, 333 * time.Millisecond, 10, 10},
	}
	for _, tt := range tests {
		inBubble(t, tt.name, func(t *testing.T) {
			f := &fleet{
				t: t, timeout: 30 * time.Second, batch: tt.batch, maxReceives: 30, latency: 5 * time.Millisecond,
				handler: handler.Func(func(ctx context.Context, m *handler.Message) error {
					if m.Body == "1h" && m.ReceiveCount() > 1 {
						return nil // it hangs once
					}
					return steps(ctx, m)
				}),
				options: handler.Options{Concurrency: tt.concurrency, Random: seeded()},
			}
			f.send(0, tt.first)
			for i := range tt.jobs {
				f.send(31*time.Second+time.Duration(i)*tt.each, "10ms")
			}
			f.run(2 * time.Hour)
			f.requireDone(anyJob)
			median, p99, longest := f.waits(func(j *fleetJob) bool { return j.body == "10ms" })
			deferred := f.count(handler.OutcomeDeferred, "")
			t.Logf("%d deferrals, %d processes; waits: median %v, p99 %v, longest %v",
				deferred, f.processes, median, p99, longest)
			if deferred > tt.most || f.processes != 1 {
				t.Errorf("%d deferrals in %d processes, want at most %d in one", deferred, f.processes, tt.most)
			}
		})
	}
}

// An outage of an hour: the breaker opens and closes by a probe, and no job is dead.
func TestAnOutageOfAnHourKillsNoJob(t *testing.T) {
	t.Parallel()
	for concurrency, hosts := range map[int]int{1: 1, 8: 2} {
		inBubble(t, fmt.Sprintf("concurrency %d, %d hosts", concurrency, hosts), func(t *testing.T) {
			begin := time.Now()
			down, up := begin.Add(5*time.Minute), begin.Add(65*time.Minute)
			f := &fleet{
				t: t, hosts: hosts, timeout: 30 * time.Second, poll: 5 * time.Second, batch: 100, maxReceives: 30,
				latency: 5 * time.Millisecond,
				handler: handler.Func(func(ctx context.Context, m *handler.Message) error {
					now := time.Now()
					if err := takes(50*time.Millisecond)(ctx, m); err != nil {
						return err
					}
					if now.After(down) && now.Before(up) {
						return syscall.ECONNREFUSED
					}
					return nil
				}),
				options: handler.Options{Concurrency: concurrency, Random: seeded()},
			}
			const jobs = 75 * 60
			for i := range jobs {
				f.send(time.Duration(i)*time.Second, "x")
			}
			f.run(6 * time.Hour)
			f.requireDone(anyJob)
			most, runs := 0, 0
			last := time.Time{}
			for _, j := range f.jobs {
				most, runs = max(most, j.receives), runs+j.runs
				if j.done.After(last) {
					last = j.done
				}
			}
			t.Logf("%d runs for %d jobs, most receives %d, all done %v after the outage", runs, jobs, most, last.Sub(up))
			if extra := runs - jobs; extra > 1500 {
				t.Errorf("%d runs failed in the outage", extra)
			}
		})
	}
}

// Three in ten jobs go to an endpoint that is down: what the others wait stays in seconds.
func TestSomeJobsToADeadEndpointDoNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		for _, rate := range []time.Duration{time.Second, 100 * time.Millisecond} {
			inBubble(t, fmt.Sprintf("concurrency %d, one each %v", concurrency, rate), func(t *testing.T) {
				f := &fleet{
					t: t, hosts: 2, timeout: 30 * time.Second, maxReceives: 30, latency: 5 * time.Millisecond,
					handler: worked(),
					options: handler.Options{Concurrency: concurrency, Random: seeded()},
				}
				r := rand.New(rand.NewPCG(3, 4))
				const jobs = 1500
				for i := range jobs {
					body := "20ms"
					if r.Float64() < 0.3 {
						body = "20ms reset"
					}
					f.send(time.Duration(i)*rate, body)
				}
				f.run(6 * time.Hour)
				healthy := func(j *fleetJob) bool { return !strings.Contains(j.body, "reset") }
				f.requireDone(healthy)
				median, p99, most := f.waits(healthy)
				t.Logf("waits of healthy jobs: median %v, p99 %v, longest %v; deferred %d, probes and runs %d",
					median, p99, most, f.count(handler.OutcomeDeferred, ""), f.count(handler.OutcomeRetry, ""))
				if median > time.Second || p99 > 30*time.Second {
					t.Errorf("healthy jobs wait: median %v, p99 %v", median, p99)
				}
			})
		}
	}
}
