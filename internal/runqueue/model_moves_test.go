package runqueue_test

import (
	"fmt"
	"slices"

	"github.com/sqsafe/sqsafe/internal/runqueue"
)

// move is something that can happen next.
type move struct {
	name string
	do   func()
}

// answers are the moves that answer what the queue has asked for.
func (w *world) answers() []move {
	var moves []move
	add := func(name string, do func()) { moves = append(moves, move{name, do}) }
	for _, d := range w.all {
		add := func(name string, do func()) { add(fmt.Sprint(name, " ", d.index), do) }
		switch d.phase {
		case decoding:
			add("identified", func() { w.identify(d) })
			add("identified", func() { w.identify(d) })
			if !d.verdict && w.config.Ledger {
				add("refused", func() { w.refuse(d) })
			}
			if w.head(d) && !w.failed[d.Group] {
				w.addEnds(add, d, false)
			} else {
				add("postponed", func() { w.postpone(d, idle) })
				add("abandoned", func() { w.finish(d, false); w.q.Ended(d.index, false) })
			}
		case claiming:
			w.addClaims(add, d)
		case running:
			add("ran", func() { w.settle(d, true) })
			if !d.alone {
				add("refused", func() { w.refuse(d) })
			}
		case settling:
			add("ended", func() { w.end(d) })
			if !d.released {
				add("sending", func() { w.send(d) })
			}
			if !d.promising {
				add("promising", func() { w.promise(d) })
			}
		case sending:
			if !d.promising {
				add("promising", func() { w.promise(d) })
			}
			if w.q.Flush() || w.in(sending) >= 10 || d.passed {
				add("letter confirmed", func() { w.end(d) })
				if !d.passed && d.Group > 0 {
					add("letter sent", func() { d.passed = true; w.q.Sent(d.index) })
				}
			}
		}
	}
	if w.asking >= 0 && !w.busy() {
		add("granted", w.grant)
		add("granted", w.grant)
	}
	if w.asking >= 0 {
		add("denied", w.deny)
	}
	if w.taken {
		add("freed", func() { w.taken = false; w.q.Freed() })
	}
	return moves
}

// addEnds adds the ends of a delivery that does not run.
func (w *world) addEnds(add func(string, func()), d *delivery, ran bool) {
	add("ended", func() { w.end(d) })
	add("settling", func() { w.settle(d, ran) })
	add("sending", func() { w.send(d) })
}

// passing are the moves that come with the time, and answers to what was withdrawn.
func (w *world) passing() []move {
	var moves []move
	for _, d := range w.all {
		switch {
		case d.counted && d.phase == claiming:
			moves = append(moves, move{"slow", func() { d.counted = false; w.q.Slow(d.index) }})
		case d.index == w.lone && d.alone && !d.lasting:
			moves = append(moves, move{"lone over", func() { d.lasting = true; w.q.LoneOver(d.index) }})
		}
	}
	for at, i := range w.owed {
		if w.lone >= 0 || w.busy() || w.asking == i {
			continue // somebody else has the process
		}
		moves = append(moves, move{"denied late", func() {
			w.owed = slices.Delete(w.owed, at, at+1)
			w.q.Denied(i)
		}}, move{"granted late", func() {
			w.owed = slices.Delete(w.owed, at, at+1)
			w.free[i] = true
			w.q.Granted(i)
		}})
	}
	return moves
}

// incidents are the moves that nothing asked for.
func (w *world) incidents() []move {
	moves := []move{
		{"late", func() { w.late = true; w.q.Late() }},
		{"hopeless", func() { w.late, w.hopeless = true, true; w.q.Late(); w.q.Hopeless() }},
		{"cut", func() { w.late, w.cut = true, true; w.q.Late(); w.q.Cut() }},
		{"drain", func() { w.draining = true; w.q.Drain() }},
		{"poison", func() { w.poisoned = true; w.q.Poison() }},
		{"breaker", func() {
			w.breaker = !w.breaker
			w.probing, w.probe = false, -1
			w.q.Breaker(w.breaker)
		}},
		{"breaker as before", func() { w.q.Breaker(w.breaker) }},
		{"stalled", func() {
			w.stalled, w.look = true, true
			for _, d := range w.all {
				if d.phase == parked && w.lone != d.index {
					w.unpark(d)
				}
			}
			w.q.Stalled()
		}},
	}
	if w.cut {
		moves = append(moves, move{"verdicts over", func() { w.over = true; w.q.VerdictsOver() }})
	}
	for _, d := range w.all {
		if d.phase == claimed || d.phase == parked {
			moves = append(moves, move{"lost", func() { d.lost, w.look = true, true; w.q.Lost(d.index) }})
		}
	}
	return moves
}

func (w *world) identify(d *delivery) {
	w.identified++
	d.phase, d.since = known, w.identified
	w.q.Identified(d.index, d.job)
}

func (w *world) claimed(d *delivery) {
	if w.suspects > 0 && w.dice.roll(100, "clean") < w.suspects {
		d.unsettled = []int{1, 1, 2, 4}[w.dice.roll(4, "unsettled")]
		d.crashes = []int{0, 0, 1}[w.dice.roll(3, "crashes")]
	}
	d.phase = claimed
	if w.suspicious(d) {
		d.phase, d.slot, d.ahead, d.counted = parked, false, false, false
	}
	w.q.Claimed(d.index, d.unsettled, d.crashes)
}

func (w *world) settle(d *delivery, ran bool) {
	if d.phase == claiming {
		w.settles[d.index]++
	}
	if d.phase == running && w.config.Ledger {
		w.settles[d.index]++
	}
	w.ran = w.ran || ran
	d.phase, d.slot, d.ahead, d.counted = settling, false, false, false
	w.q.Settling(d.index, ran)
}

func (w *world) send(d *delivery) {
	if d.phase == claiming {
		w.settles[d.index]++
	}
	d.phase, d.slot, d.ahead, d.counted = sending, false, false, false
	w.q.Sending(d.index)
}

// addClaims adds the answers to a claim. One that is made before its turn is kept until then,
// or until it is known that the delivery does not run.
func (w *world) addClaims(add func(string, func()), d *delivery) {
	over := w.poisoned || w.cut && (w.over || !w.last(d)) || w.draining && !w.last(d)
	w.must(w.q.IsOver(d.index) == over, "what is over is known", "%d: %v", d.index, over)
	if w.head(d) || over {
		for range 3 {
			add("claimed", func() { w.claimed(d) })
		}
	}
	if w.head(d) && !w.failed[d.Group] {
		w.addEnds(add, d, false)
	} else {
		add("postponed", func() { w.settles[d.index]++; w.postpone(d, known) })
	}
}

// postpone puts a delivery back that was begun early.
func (w *world) postpone(d *delivery, to phase) {
	d.phase, d.ahead, d.early = to, false, false
	w.q.Postponed(d.index)
}

// promise lets the next of its group be claimed.
func (w *world) promise(d *delivery) {
	d.promising = true
	w.q.Promising(d.index)
}

func (w *world) end(d *delivery) {
	if d.phase == claiming {
		w.settles[d.index]++
	}
	acknowledged := w.dice.roll(4, "acknowledged") > 0 || d.passed
	w.finish(d, acknowledged)
	w.q.Ended(d.index, acknowledged)
}

func (w *world) refuse(d *delivery) {
	w.taken = true
	if d.phase == running && !w.hopeless {
		w.started--
	}
	switch {
	case d.phase == running && w.config.Ledger:
		d.phase = claimed
	case d.phase == running:
		d.phase = idle
	default:
		d.phase = idle
	}
	d.slot = false
	if d.Group > 0 {
		d.ahead, d.early = false, false
	}
	w.q.Refused(d.index)
}

func (w *world) grant() {
	i := w.asking
	w.asking, w.lone = -1, i
	w.free[i] = true
	w.q.Granted(i)
}

func (w *world) deny() {
	i := w.asking
	w.asking = -1
	w.unpark(w.all[i])
	w.q.Denied(i)
}

// unpark notes that a suspect did not get the process; it may run beside others.
func (w *world) unpark(d *delivery) {
	if w.pressing(d) {
		d.denied, d.phase = true, claimed
	}
}

// lateSuspects notes that suspects at their last receive do not wait for the process
// when there is no time for another run.
func (w *world) lateSuspects() {
	for _, d := range w.all {
		if d.phase == parked && w.lone != d.index && w.last(d) && w.tooLate() && w.blocked(d) == runqueue.None {
			w.unpark(d)
		}
	}
}

// settleDown lets the queue act on what has happened and checks the state it rests in.
func (w *world) settleDown() {
	w.look = false
	acted := false
	for {
		w.lateSuspects()
		actions := w.q.Next()
		if len(actions) == 0 {
			break
		}
		w.must(!acted, "one call of Next gives all", "more: %v", actions)
		acted = true
		for _, a := range actions {
			w.take(a)
			acted = acted && !w.atOnce(a)
		}
	}
	w.lateSuspects()
	for _, d := range w.all {
		if d.phase == claimed || d.phase == known && w.copyOf(d) != nil {
			d.slot = false
		}
		if d.phase == known && w.copyOf(d) != nil {
			d.ahead, d.counted, d.verdict = false, false, false
		}
	}
	w.rest()
}

// atOnce answers what may be answered before Next is called again.
func (w *world) atOnce(a runqueue.Action) bool {
	switch a.Kind {
	case runqueue.AskProbe:
		if w.dice.roll(2, "probe granted") > 0 {
			w.probe = a.Index
		}
		w.q.Probed(a.Index, w.probe == a.Index)
		return true
	case runqueue.Ask:
		if w.dice.roll(2, "the process is idle") > 0 {
			w.grant()
		}
		return true
	}
	return false
}

// rest checks what is true whenever the queue waits for its owner.
func (w *world) rest() {
	w.must(len(w.q.Invariants()) == 0, "counters are right", "%v", w.q.Invariants())
	w.must(w.lone < 0 || !w.all[w.lone].lasting, "a lone run that lasts keeps nobody back", "%d", w.lone)
	w.must(w.q.Lone() == w.lone, "the lone run is known", "%d, want %d", w.q.Lone(), w.lone)
	w.must(w.q.Idle() == (w.in(ended) == len(w.all)), "idle when all have ended", "%v", w.q.Idle())
	w.must(w.q.Idle() || len(w.answers()) > 0, "there is always progress", "nothing is pending: %s", w)
	w.restHome()
	w.restStarts()
	w.restSuspects()
	w.restLetters()
}

// restHome checks that nothing stays that may not start.
func (w *world) restHome() {
	waiting, verdicts, places := false, 0, 0
	for _, d := range w.all {
		if d.verdict && d.phase != known && d.phase != ended {
			places++
		}
		ready := d.phase == claimed || d.phase == parked
		follows := d.phase == known && w.copyOf(d) != nil
		free := (d.phase == known && !follows || d.phase == idle) && w.head(d)
		waiting = waiting || ready || free || d.counted || follows
		w.must(!ready || !d.lost, "a claim that is lost is given back", "%d", d.index)
		if w.blocked(d) == runqueue.None {
			continue
		}
		home := ready || free || follows
		w.must(!home || !ready && w.buries(d), "what may not start goes home at once", "%d in %d for %d",
			d.index, d.phase, w.blocked(d))
		if free {
			verdicts++
		}
	}
	room := max(w.config.Slots, 16)
	w.must(places == room || places < room && verdicts == 0, "as many verdicts as may be", "%d", places)
	w.must(w.q.Waiting() == waiting, "it is known whether something waits", "%v", w.q.Waiting())
}

// restStarts checks that what may start has started.
func (w *world) restStarts() {
	if w.closed() {
		return
	}
	first := w.next()
	room := w.slots() < w.config.Slots && w.in(settling) < w.config.Unsettled && w.in(sending) < w.config.Unsent
	w.must(!room || first == nil || w.quiet(first), "a free slot is used", "not by %s", w)
	ahead := w.count(func(d *delivery) bool { return d.ahead && d.phase >= decoding })
	for _, d := range w.all {
		begun := !d.ahead || d.phase != idle || w.blocked(d) != runqueue.None
		w.must(begun || ahead >= w.config.Ahead, "as many as may be are claimed ahead", "not %d", d.index)
	}
}

func (w *world) restSuspects() {
	if w.poisoned || w.cut || w.lone >= 0 || w.in(parked) == 0 || w.busy() || w.in(claiming) > 0 {
		return
	}
	if w.holders() > 0 || w.next() == nil && w.count(func(d *delivery) bool { return d.counted }) == 0 {
		w.must(w.asking >= 0, "a suspect asks when the batch is quiet", "%s", w)
	}
	if w.asking >= 0 && !w.hold && w.holders() > 0 {
		w.vain++
		w.must(w.vain <= 1, "who has no other receive holds nobody back", "%d asks while another holds the batch", w.asking)
	}
}

// restLetters checks that letters that others wait for are on their way.
func (w *world) restLetters() {
	if w.in(sending) == 0 || w.q.Flush() {
		return
	}
	w.must(w.in(parked) == 0, "letters go out for suspects", "%s", w)
	w.must(w.in(sending) < w.config.Unsent, "letters go out where they hold starts back", "%s", w)
	w.must(w.in(decoding, claiming, running, settling) > 0, "letters go out when no more come", "%s", w)
	for _, d := range w.all {
		w.must(d.phase != claimed || d.unsettled == 0 || w.next() != d, "letters go out for an unsettled claim", "%s", w)
		if d.phase == sending && !d.passed {
			for _, e := range w.all {
				next := d.Group > 0 && e.Group == d.Group && e.phase == idle
				follows := e.phase == known && e.job == d.job && 0 < d.since && d.since < e.since
				w.must(!next && !follows, "letters go out for what follows", "%d after %d", e.index, d.index)
			}
		}
	}
}

// over checks what is true at the end.
func (w *world) finished() {
	w.must(len(w.free) == 0, "the process is given back once", "%v hold it", w.free)
	for i := range w.all {
		w.must(w.claims[i] == w.settles[i], "each claim is settled once", "%d: %d claims, %d settles",
			i, w.claims[i], w.settles[i])
	}
	w.must(!w.q.Waiting() && len(w.q.Next()) == 0, "nothing is left at the end", "waiting %v", w.q.Waiting())
}

func (w *world) String() string {
	out := ""
	for _, d := range w.all {
		if d.phase != ended {
			out += fmt.Sprintf("%d:%d ", d.index, d.phase)
		}
	}
	return out
}
