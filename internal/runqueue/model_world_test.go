package runqueue_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/internal/runqueue"
)

// phase is where a delivery is, as its owner knows it from actions and answers.
type phase uint8

const (
	idle phase = iota
	decoding
	known // identified; waits for an earlier copy of its job
	claiming
	claimed // waits for a slot
	parked  // a suspect that waits for the process
	running
	settling
	sending
	ended
)

// delivery is one delivery in the world of a queue.
type delivery struct {
	runqueue.Delivery

	index int
	job   string
	phase phase
	// slot reports whether it holds one; ahead, whether it is a first delivery
	// that is claimed before it has one; counted, whether others wait for it.
	slot, ahead, counted bool
	// verdict tells that it was begun to be written off, alone that its run has the
	// process, lasting that it has had it for long.
	verdict, alone, lasting bool
	// denied tells that it did not get the process.
	lost, denied bool
	// since is its place among those identified, from 1.
	since              int
	unsettled, crashes int
	// early tells that it was begun before its turn in its FIFO group, promising that the
	// next one may be, and passed that its letter has arrived.
	early, promising, passed bool
	// released tells that its claim is given back, and lettered that its letter
	// was handed over.
	released bool
}

// world plays the owner of a queue and says what the queue may do.
type world struct {
	t      *rapid.T
	dice   *dice
	q      *runqueue.Queue
	config runqueue.Config
	all    []*delivery
	// suspects is how many of a hundred claims show unsettled ones before.
	suspects int

	poisoned, cut, late, hopeless, draining, over, breaker bool
	taken, stalled, ran                                    bool
	failed                                                 map[int]bool
	// probe is the delivery that may run in spite of the breaker; probing reports
	// whether one was asked for since it opened.
	probe   int
	probing bool
	started int
	// look tells that the queue has to act before anything else happens.
	look bool
	// identified is the number of deliveries of which the job is known.
	identified int
	// asking is the suspect that asked, hold whether it keeps others back, vain for
	// how many events it has asked while another suspect held the batch.
	asking, lone, vain int
	hold               bool
	owed               []int // withdrawn asks that may be granted yet
	// free has the deliveries whose process is to be given back.
	free map[int]bool
	// claims and settles count by delivery.
	claims, settles map[int]int
}

// dice draws numbers evenly, where rapid's own are mostly small.
type dice struct {
	t    *rapid.T
	turn *rand.Rand // nil while a failure is made small
}

func newDice(t *rapid.T) *dice {
	seed := rapid.Uint64().Draw(t, "seed")
	if seed == 0 {
		return &dice{t: t}
	}
	return &dice{t: t, turn: rand.New(rand.NewPCG(seed, seed))}
}

// roll draws from 0 to n-1.
func (d *dice) roll(n int, what string) int {
	drawn := rapid.IntRange(0, n-1).Draw(d.t, what)
	if d.turn != nil {
		drawn += d.turn.IntN(n)
	}
	return drawn % n
}

func newWorld(dice *dice, deliveries []runqueue.Delivery, jobs []string, config runqueue.Config) *world {
	w := &world{
		t: dice.t, dice: dice, q: runqueue.New(deliveries, config), config: config, probe: -1, asking: -1, lone: -1,
		failed: map[int]bool{}, free: map[int]bool{}, claims: map[int]int{}, settles: map[int]int{},
	}
	for i, d := range deliveries {
		ahead := config.Ledger && config.Ahead > 0 && d.Group == 0 && d.Receives <= 1
		w.all = append(w.all, &delivery{Delivery: d, index: i, job: jobs[i], ahead: ahead, counted: ahead})
	}
	return w
}

// must names the promise that is broken.
func (w *world) must(ok bool, promise, format string, args ...any) {
	if !ok {
		w.t.Fatalf("%s: %s", promise, fmt.Sprintf(format, args...))
	}
}

func (w *world) count(fits func(*delivery) bool) int {
	n := 0
	for _, d := range w.all {
		if fits(d) {
			n++
		}
	}
	return n
}

func (w *world) in(phases ...phase) int {
	return w.count(func(d *delivery) bool { return slices.Contains(phases, d.phase) })
}

func (w *world) maxReceives() int {
	if w.config.MaxReceives > 0 {
		return w.config.MaxReceives
	}
	return 30
}

func (w *world) last(d *delivery) bool {
	return w.config.MaxReceives > 0 && d.Receives >= w.config.MaxReceives
}

func (w *world) urgent(d *delivery) bool { return 2*d.Receives >= w.maxReceives() }

func (w *world) pressing(d *delivery) bool { return 4*d.Receives >= 3*w.maxReceives() }

func (w *world) suspicious(d *delivery) bool { return d.unsettled >= 2 || d.crashes > 0 }

// rank is the place in the order of a standard queue.
func (w *world) rank(d *delivery) int {
	switch {
	case d.Group > 0:
		return 0
	case w.last(d):
		return 1
	case w.urgent(d):
		return 2
	case d.Receives <= 1:
		return 3
	default:
		return 4
	}
}

func (w *world) before(a, b *delivery) bool {
	if x, y := w.rank(a), w.rank(b); x != y {
		return x < y
	}
	if a.Group == 0 && w.rank(a) == 2 && a.Receives != b.Receives {
		return a.Receives > b.Receives
	}
	return a.index < b.index
}

// head reports whether all before it in its group have ended, or their letters have arrived.
func (w *world) head(d *delivery) bool { return d.Group == 0 || w.holds(d) == nil }

// holds is the first delivery that holds back one of a FIFO group; nil for none.
func (w *world) holds(d *delivery) *delivery {
	for _, e := range w.all[:d.index] {
		if e.Group == d.Group && e.phase != ended && !e.passed {
			return e
		}
	}
	return nil
}

// copyOf is an earlier copy of the job that has not ended; nil for none.
func (w *world) copyOf(d *delivery) *delivery {
	for _, e := range w.all {
		if e.job == d.job && 0 < e.since && e.since < d.since && e.phase != ended {
			return e
		}
	}
	return nil
}

// blocked says why a delivery may not start, as the rules have it.
func (w *world) blocked(d *delivery) runqueue.Reason {
	switch {
	case w.poisoned:
		return runqueue.AfterCrash
	case d.Group > 0 && w.failed[d.Group]:
		return runqueue.GroupHead
	case w.cut:
		return runqueue.NoTime
	case w.last(d) && w.hopeless && w.hasBegun():
		return runqueue.NoTime
	case w.last(d):
		return runqueue.None
	case w.draining:
		return runqueue.Draining
	case w.tooLate():
		return runqueue.NoTime
	case w.breaker && w.probe != d.index:
		return runqueue.Breaker
	}
	return runqueue.None
}

func (w *world) tooLate() bool { return w.late && w.hasBegun() }

func (w *world) hasBegun() bool { return w.ran || w.started >= w.config.Slots }

// buries reports whether a delivery that cannot run is written off.
func (w *world) buries(d *delivery) bool {
	return (w.cut || w.hopeless && w.hasBegun()) && !w.poisoned && !w.over && w.last(d) && !w.failed[d.Group]
}

// busy reports whether anything of the batch is at work, as the process sees it.
func (w *world) busy() bool { return w.in(decoding, running, settling, sending) > 0 }

// slots is the number of slots that are taken. What is claimed and did not start, and
// what turned out to be a copy, has given up its own.
func (w *world) slots() int {
	return w.count(func(d *delivery) bool {
		return d.slot && d.phase != claimed && (d.phase != known || w.copyOf(d) == nil)
	})
}

// holders is the number of suspects for which the batch starts nothing else.
func (w *world) holders() int {
	return w.count(func(d *delivery) bool { return d.phase == parked && w.urgent(d) && !w.last(d) })
}

// closed reports whether nothing begins for now.
func (w *world) closed() bool {
	return w.lone >= 0 || w.taken || w.holders() > 0 || w.poisoned || w.cut || w.asking >= 0 && w.hold
}

// quiet reports whether a delivery has to wait until nothing is settling.
func (w *world) quiet(d *delivery) bool { return d.unsettled > 0 && w.in(settling, sending) > 0 }

// begins reports whether a delivery may take a slot, to be decoded, claimed or, without a
// ledger, run.
func (w *world) begins(d *delivery) bool {
	if w.blocked(d) != runqueue.None {
		return false
	}
	switch d.phase {
	case known:
		return w.head(d) && w.copyOf(d) == nil && !w.waitsForFirst(d)
	case idle:
		return w.head(d) && !d.ahead && !w.waitsForFirst(d)
	}
	return false
}

func (w *world) waitsForFirst(d *delivery) bool {
	return d.Group == 0 && d.Receives > 1 && !w.urgent(d) &&
		w.count(func(e *delivery) bool { return e.counted && (e.phase != known || w.copyOf(e) == nil) }) > 0
}

// next is the delivery of the order that may take a slot; nil for none.
func (w *world) next() *delivery {
	var first *delivery
	for _, d := range w.all {
		if (w.begins(d) || d.phase == claimed && !d.slot) && (first == nil || w.before(d, first)) {
			first = d
		}
	}
	return first
}
