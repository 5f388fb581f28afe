package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// world is one history: a job, its messages, the workers that get them, and the
// scheduler that says what happens next. All goroutines but one wait for it, so
// that the seed decides everything.
type world struct {
	t     *testing.T
	seed  uint64
	rng   *rand.Rand
	store idem.Store
	begin time.Time
	climate
	book

	workers  []*worker
	messages []*message
	letters  []letter
	strays   []func()
	pauses   int  // between the steps of the store's calls
	landing  bool // a call arrives whose caller waits no more
	sent     int  // messages so far
	lives    int  // how often the job was new
	quiet    bool
	passed   float64 // the share of the history, without its end

	mu     sync.Mutex // guards parked, workers and messages, and what these count
	parked []*task

	telling   bool
	aliases   map[string]string
	telMu     sync.Mutex // guards what follows
	told      []string
	violation *Violation
}

// climate is how rough a history is.
type climate struct {
	faults  float64 // share of store and queue calls that go wrong
	strict  bool    // the clocks are within the margin of each other
	keep    time.Duration
	lasts   time.Duration // a claim where nothing limits the invocation
	fragile float64       // share of runs that fail
	way     way           // how the job has its effect
	careful bool          // an unknown outcome is for a person to look at
	drops   bool          // a job that fails for good leaves no letter
	deploys deployment
	length  int
}

// way is how a job has its effect.
type way int

const (
	byItself way = iota
	byStep
	byTransaction
)

// message is one that is still in the queue.
type message struct {
	id     string
	body   string
	sentAt time.Time
	replay *handler.Replay
	// receives counts its deliveries, taken those under way.
	receives, taken int
}

// letter is what the dead-letter queue has.
type letter struct {
	messageID string
	body      string
	record    handler.Replay
}

// longKeep is the keeping time of histories in which nothing expires.
const longKeep = 30 * 24 * time.Hour

// historyStart is what a history's times are counted from.
const historyStart = 48 * time.Hour

func newWorld(t *testing.T, store idem.Store, seed uint64, deploys, telling bool) *world {
	rng := rand.New(rand.NewPCG(seed, 5)) //nolint:gosec // the seed makes a history repeatable
	w := &world{
		t: t, seed: seed, rng: rng, store: store,
		telling: telling, aliases: map[string]string{},
	}
	wait(time.Until(time.Now().Truncate(historyStart).Add(historyStart)))
	w.begin = time.Now()
	w.climate = climate{
		faults:  []float64{0, 0.1, 0.3}[w.rng.IntN(3)],
		strict:  w.rng.IntN(5) > 0,
		keep:    []time.Duration{time.Hour, longKeep}[w.rng.IntN(2)],
		lasts:   []time.Duration{5 * time.Second, time.Minute}[w.rng.IntN(2)],
		fragile: []float64{0.2, 0.5, 0.9}[w.rng.IntN(3)],
		way:     way(w.rng.IntN(3)),
		careful: w.rng.IntN(4) == 0,
		drops:   w.rng.IntN(4) == 0,
		deploys: drawDeployment(w.rng, deploys),
		length:  30 + w.rng.IntN(60),
	}
	for i := range 1 + w.rng.IntN(4) {
		w.workers = append(w.workers, newWorker(w, i))
	}
	w.send("a", nil)
	return w
}

func (w *world) locked(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// all are the present workers.
func (w *world) all() (workers []*worker) {
	w.locked(func() { workers = slices.Clone(w.workers) })
	return workers
}

// id is the job's in the store.
func (w *world) id() string { return fmt.Sprintf("model-%d#k", w.seed) }

// live walks the history and gives the promise that it breaks.
func (w *world) live() *Violation {
	w.tell("%d workers, %+v", len(w.workers), w.climate)
	for n := range w.length {
		w.locked(func() { w.passed = float64(n) / float64(w.length) })
		w.step()
		if w.violation != nil {
			break
		}
	}
	if w.violation == nil {
		w.calm()
	}
	w.end()
	return w.violation
}

// end lets no goroutine of the history live on.
func (w *world) end() {
	synctest.Wait()
	for _, worker := range w.all() {
		w.kill(worker)
	}
	synctest.Wait()
	if n := w.pending(); n > 0 && w.violation == nil {
		w.breach("every goroutine ends", "%d are left", n)
	}
	if w.violation != nil && w.telling {
		w.violation.History = w.told
	}
}

// calm ends all faults and lets the queue run empty. What is held up arrives yet.
func (w *world) calm() {
	w.quiet = true
	w.tell("all faults end")
	for round := 0; ; round++ {
		synctest.Wait()
		switch {
		case w.violation != nil:
			return
		case len(w.strays) > 0 && w.rng.IntN(8) == 0:
			w.land()
		case w.pending() > 0:
			w.resume(w.pick(), w.fate)
		case w.left() == 0 && len(w.strays) == 0:
			w.finished()
			return
		case round > calmRounds:
			w.breach("a job is never stuck", "%d messages still come back after %d steps", w.left(), round)
		case w.rng.IntN(3) == 0:
			wait(40 * time.Second)
		default:
			w.deliver()
		}
	}
}

// left is the number of messages in the queue.
func (w *world) left() (n int) {
	w.locked(func() { n = len(w.messages) })
	return n
}

// calmRounds is more than the whole budgets of all messages need.
const calmRounds = 4000

// breach notes the first promise that is broken.
func (w *world) breach(rule, format string, args ...any) {
	w.telMu.Lock()
	defer w.telMu.Unlock()
	if w.violation == nil {
		w.violation = &Violation{Seed: w.seed, Rule: rule, Detail: fmt.Sprintf(format, args...)}
		w.note("BROKEN: %s: %s", rule, w.violation.Detail)
	}
}

// alias is a short name for an owner, which has one by chance.
func (w *world) alias(owner string) string {
	if owner == "" {
		return "nobody"
	}
	if w.aliases[owner] == "" {
		w.aliases[owner] = fmt.Sprintf("o%d", len(w.aliases)+1)
	}
	return w.aliases[owner]
}

func (w *world) tell(format string, args ...any) {
	w.telMu.Lock()
	defer w.telMu.Unlock()
	w.note(format, args...)
}

// note is tell for who holds the lock.
func (w *world) note(format string, args ...any) {
	if w.telling {
		line := fmt.Sprintf("%10.3fs  ", time.Since(w.begin).Seconds())
		w.told = append(w.told, line+fmt.Sprintf(format, args...))
	}
}
