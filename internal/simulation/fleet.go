package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

// fleet is one history of many jobs: processes with several invocations each,
// some of whose jobs end them. All goroutines wait for its scheduler.
type fleet struct {
	t     *testing.T
	seed  uint64
	rng   *rand.Rand
	store idem.Store
	begin time.Time
	weather

	hosts []*host
	jobs  []*job

	mu        sync.Mutex // guards what follows, and what jobs and hosts have
	queue     []*mail
	delivered int // batches
	parked    []*halt
	quiet     bool
	passed    float64 // the share of the history, without its end

	counts    func(what string)
	telling   bool
	told      []string
	violation *Violation
}

// count notes that the history has met a case that it is for.
func (f *fleet) count(format string, args ...any) {
	if f.counts != nil {
		f.counts(fmt.Sprintf(format, args...))
	}
}

// weather is how rough a history is.
type weather struct {
	faults      float64 // share of store and queue calls that go wrong
	kills       int     // of a hundred steps, how many end a process from outside
	concurrency int
	fifo        bool
	maxReceives int // 0 for no end
	breaker     int
	drops       bool
	deploys     deployment
	length      int
}

// mail is a message that is still in the queue.
type mail struct {
	id       string
	job      *job
	sentAt   time.Time
	receives int
	// disturbed counts the receives that a kill, a fault or a copy has used up.
	disturbed int
	taken     int // deliveries under way
	visibleAt time.Time
}

func newFleet(t *testing.T, store idem.Store, seed uint64, deploys, telling bool) *fleet {
	rng := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // the seed makes a history repeatable
	f := &fleet{t: t, seed: seed, rng: rng, store: store, telling: telling}
	wait(time.Until(time.Now().Truncate(historyStart).Add(historyStart)))
	f.begin = time.Now()
	f.weather = weather{
		faults:      []float64{0, 0, 0.1, 0.3}[f.rng.IntN(4)],
		kills:       []int{0, 0, 2, 6}[f.rng.IntN(4)],
		concurrency: 1 + f.rng.IntN(8),
		fifo:        f.rng.IntN(3) == 0,
		maxReceives: []int{0, 30, 30, 12, 4}[f.rng.IntN(5)],
		breaker:     []int{-1, 3}[f.rng.IntN(2)],
		drops:       f.rng.IntN(4) == 0,
		deploys:     drawDeployment(f.rng, deploys),
		length:      50 + f.rng.IntN(150),
	}
	if f.fifo {
		f.maxReceives = min(f.maxReceives, 4) * 50
	}
	for range 2 + f.rng.IntN(6) {
		f.jobs = append(f.jobs, f.newJob())
	}
	for range 1 + f.rng.IntN(3) {
		h := &host{fleet: f, index: len(f.hosts), bounded: f.rng.IntN(2) == 0}
		h.start()
		f.hosts = append(f.hosts, h)
	}
	return f
}

// send puts a message for the job into the queue.
func (f *fleet) send(j *job) {
	j.messages++
	m := &mail{id: fmt.Sprintf("%s-%d", j.name, j.messages), job: j, sentAt: time.Now(), visibleAt: time.Now()}
	f.queue = append(f.queue, m)
}

// live walks the history and gives the promise that it breaks.
func (f *fleet) live() *Violation {
	f.tell("%d processes, %+v", len(f.hosts), f.weather)
	for n := range f.length {
		f.locked(func() { f.passed = float64(n) / float64(f.length) })
		f.step()
		if f.broken() {
			break
		}
	}
	f.calm()
	f.end()
	return f.violation
}

// end lets no goroutine of the history live on.
func (f *fleet) end() {
	for _, h := range f.hosts {
		h.kill()
	}
	synctest.Wait()
	if f.violation != nil && f.telling {
		f.violation.History = f.told
	}
}

func (f *fleet) empty() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	busy := slices.ContainsFunc(f.hosts, func(h *host) bool { return h.process.invocations > 0 })
	return len(f.queue) == 0 && !busy
}

// mailOf is the message in the queue; nil if it is gone.
func (f *fleet) mailOf(id string) *mail {
	for _, m := range f.queue {
		if m.id == id {
			return m
		}
	}
	return nil
}

func (f *fleet) remove(m *mail) {
	f.queue = slices.DeleteFunc(f.queue, func(other *mail) bool { return other == m })
}

func (f *fleet) locked(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

func (f *fleet) broken() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.violation != nil
}

// breach notes the first promise that is broken.
func (f *fleet) breach(rule, format string, args ...any) {
	f.locked(func() { f.breaks(rule, format, args...) })
}

// breaks is breach for who holds the lock.
func (f *fleet) breaks(rule, format string, args ...any) {
	if f.violation == nil {
		f.violation = &Violation{Seed: f.seed, Rule: rule, Detail: fmt.Sprintf(format, args...)}
		f.note("BROKEN: %s: %s", rule, f.violation.Detail)
	}
}

func (f *fleet) tell(format string, args ...any) {
	f.locked(func() { f.note(format, args...) })
}

// note is tell for who holds the lock.
func (f *fleet) note(format string, args ...any) {
	if f.telling {
		line := fmt.Sprintf("%10.3fs  ", time.Since(f.begin).Seconds())
		f.told = append(f.told, line+fmt.Sprintf(format, args...))
	}
}
