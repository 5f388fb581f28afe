package runqueue_test

import "github.com/sqsafe/sqsafe/internal/runqueue"

// take checks one action against the promises and notes what it does.
func (w *world) take(a runqueue.Action) {
	d := w.all[a.Index]
	w.t.Logf("    %v %+v", a.Kind, a)
	w.must(d.phase != ended || a.Kind == runqueue.Free, "every delivery ends once", "%v of %d", a.Kind, a.Index)
	switch a.Kind {
	case runqueue.Decode:
		w.takeDecode(d, a)
	case runqueue.Claim:
		w.takeClaim(d)
	case runqueue.Start:
		w.takeStart(d, a)
	case runqueue.StartAlone:
		w.takeStartAlone(d)
	case runqueue.Ask:
		w.takeAsk(d, a)
	case runqueue.Withdraw:
		w.must(w.asking == a.Index, "only what was asked is withdrawn", "%d, asked has %d", a.Index, w.asking)
		w.asking = -1
		w.owed = append(w.owed, a.Index)
	case runqueue.Free:
		w.must(w.free[a.Index], "the process is given back once", "%d does not have it", a.Index)
		delete(w.free, a.Index)
		if w.lone == a.Index {
			w.lone = -1
		}
	case runqueue.AskProbe:
		w.takeProbe(d)
	case runqueue.Release, runqueue.Bury, runqueue.Defer:
		w.takeHome(d, a)
	default:
		w.t.Fatalf("action %v", a.Kind)
	}
	if a.Kind <= runqueue.StartAlone {
		w.takeOrder(d)
	}
}

// takeOrder is for all that takes a delivery forward.
func (w *world) takeOrder(d *delivery) {
	w.must(w.head(d) || d.early && (d.phase == decoding || d.phase == claiming), "a FIFO group is in order",
		"%d of group %d is not its head", d.index, d.Group)
	w.must(d.Group == 0 || !w.failed[d.Group], "after a failure the rest of a group waits", "%d", d.index)
	running := w.in(running)
	w.must(running <= w.config.Slots, "never more running than slots", "%d of %d", running, w.config.Slots)
	ahead := w.count(func(d *delivery) bool {
		return d.ahead && (d.phase == decoding || d.phase == claiming || d.phase == claimed)
	})
	w.must(ahead <= w.config.Ahead, "at most Ahead are claimed ahead", "%d of %d", ahead, w.config.Ahead)
}

// takeSlot is for what begins or starts by taking a slot.
func (w *world) takeSlot(d *delivery) {
	w.must(!w.closed(), "nothing begins while it is closed", "%d", d.index)
	w.must(w.slots() < w.config.Slots, "what begins has a slot", "%d, though %d are taken", d.index, w.slots())
	if first := w.next(); d.Group == 0 && first != nil && first != d {
		w.must(!w.before(first, d) || w.quiet(first), "the order is kept", "%d before %d", d.index, first.index)
	}
	d.slot, d.ahead = true, false
}

func (w *world) takeDecode(d *delivery, a runqueue.Action) {
	w.must(d.phase == idle && w.config.Ledger, "decoded once", "%d in %d", d.index, d.phase)
	w.must(!a.Force || w.buries(d), "forced for verdicts only", "%d", d.index)
	d.verdict = a.Force
	switch {
	case a.Force:
		d.ahead, d.counted = false, false
	case !w.head(d):
		w.takeEarly(d)
	case d.ahead:
		w.must(!w.closed(), "nothing begins while it is closed", "%d ahead", d.index)
		for _, e := range w.all[:d.index] {
			w.must(!e.ahead || e.phase != idle || w.rank(e) != w.rank(d), "ahead in order", "%d before %d", d.index, e.index)
		}
	default:
		w.must(!w.waitsForFirst(d), "redelivered ones are decoded after first ones", "%d", d.index)
		w.takeSlot(d)
	}
	if !a.Force {
		w.must(w.blocked(d) == runqueue.None, "what is blocked does not begin", "%d: %d", d.index, w.blocked(d))
	}
	d.phase = decoding
}

// takeEarly is for what begins before its turn in its FIFO group.
func (w *world) takeEarly(d *delivery) {
	head := w.holds(d)
	w.must(head.promising, "the next of a group begins behind one that will be acknowledged",
		"%d behind %d", d.index, head.index)
	for _, e := range w.all[head.index+1 : d.index] {
		w.must(e.Group != d.Group || e.phase == ended, "only the next of a group begins early",
			"%d before %d", d.index, e.index)
	}
	w.must(d.Receives <= 1 && w.config.Ahead > 0, "only first deliveries begin early", "%d", d.index)
	w.must(!w.closed(), "nothing begins while it is closed", "%d early", d.index)
	d.early, d.ahead = true, true
}

func (w *world) takeClaim(d *delivery) {
	w.must(d.phase == known, "what is identified is claimed", "%d in %d", d.index, d.phase)
	other := w.copyOf(d)
	w.must(other == nil, "a copy is claimed when its first has ended", "%d is a copy of another", d.index)
	switch again := !d.slot && !d.ahead && !d.verdict; { // it was a copy
	case again && w.buries(d):
		d.verdict = true
	case again:
		w.takeSlot(d)
	}
	d.phase = claiming
	w.claims[d.index]++
}

// takeRun is for all that runs.
func (w *world) takeRun(d *delivery) {
	w.must(!w.poisoned, "after a poison nothing starts", "%d", d.index)
	w.must(!w.cut, "after the cut nothing starts", "%d", d.index)
	w.must(!w.draining || w.last(d), "after a drain only last receives start", "%d", d.index)
	w.must(!w.tooLate() || w.last(d), "after the last start only last receives start", "%d", d.index)
	w.must(!w.breaker || w.last(d) || w.probe == d.index, "only the probe passes the breaker", "%d", d.index)
	w.must(w.blocked(d) == runqueue.None, "what is blocked does not start", "%d: %d", d.index, w.blocked(d))
	d.phase, d.counted = running, false
	w.started++
}

func (w *world) takeStart(d *delivery, a runqueue.Action) {
	w.lateSuspects()
	w.must(w.head(d), "a FIFO group is in order", "%d of group %d starts and is not its head", d.index, d.Group)
	if w.config.Ledger {
		w.must(d.phase == claimed, "what is claimed starts", "%d in %d", d.index, d.phase)
	} else {
		w.must(d.phase == idle, "what waits starts", "%d in %d", d.index, d.phase)
	}
	w.must(!w.suspicious(d) || d.denied, "suspects run alone", "%d", d.index)
	w.must(!d.denied || w.pressing(d), "only who has few receives left runs beside others", "%d", d.index)
	w.must(w.lone < 0 && !w.taken, "nothing starts beside a lone run", "%d", d.index)
	w.must(w.asking < 0 || !w.hold, "nothing starts while a suspect holds the process", "%d", d.index)
	settling, sending := w.in(settling), w.in(sending)
	w.must(settling < w.config.Unsettled, "settles hold starts back", "%d with %d", d.index, settling)
	w.must(sending < w.config.Unsent, "letters hold starts back", "%d with %d", d.index, sending)
	w.must(d.unsettled == 0 || settling+sending == 0, "an unsettled claim starts when nothing settles", "%d", d.index)
	w.must(a.Quiet == (d.unsettled > 0), "quiet tells of an unsettled claim", "%d", d.index)
	if !d.slot {
		w.takeSlot(d)
	}
	w.takeRun(d)
}

func (w *world) takeStartAlone(d *delivery) {
	w.must(d.phase == parked && w.lone == d.index, "who has the process runs alone", "%d in %d", d.index, d.phase)
	w.must(!w.busy() && w.in(claiming) == 0, "a lone run is alone", "%d", d.index)
	w.takeRun(d)
	d.slot, d.alone = true, true
}

func (w *world) takeAsk(d *delivery, a runqueue.Action) {
	w.must(d.phase == parked, "suspects ask", "%d in %d", d.index, d.phase)
	w.must(w.asking < 0 && w.lone < 0, "one asks at a time", "%d and %d", d.index, w.asking)
	w.must(!w.busy() && w.in(claiming) == 0, "a suspect asks when the batch is quiet", "%d", d.index)
	w.must(a.Hold != w.last(d), "who has no other receive holds nobody back", "%d", d.index)
	w.must(w.urgent(d) || w.next() == nil, "others go before a suspect that is not urgent", "%d", d.index)
	w.must(w.urgent(d) || w.holders() == 0, "urgent suspects go first", "%d", d.index)
	for _, e := range w.all {
		sooner := e.phase == parked && w.urgent(e) == w.urgent(d) && w.last(e) == w.last(d) && e.crashes < d.crashes
		w.must(!sooner, "who crashed less goes first", "%d before %d", d.index, e.index)
	}
	w.asking, w.hold, w.vain = d.index, a.Hold, 0
}

func (w *world) takeProbe(d *delivery) {
	w.must(w.breaker && !w.probing, "one probe is asked for when the breaker opens", "%d", d.index)
	w.must(w.blocked(d) == runqueue.Breaker, "a probe could run otherwise", "%d: %d", d.index, w.blocked(d))
	w.must(d.phase == claimed || d.phase == idle && w.head(d) || d.phase == known && w.copyOf(d) == nil,
		"a probe could run otherwise", "%d in %d", d.index, d.phase)
	if d.Receives > 1 {
		for _, e := range w.all {
			first := e.Receives <= 1 && w.head(e) && (e.phase == claimed || e.phase == idle) && !w.last(e)
			w.must(!first, "a first delivery is the probe", "%d instead of %d", d.index, e.index)
		}
	}
	w.probing = true
}

// takeHome is for what does not run any more.
func (w *world) takeHome(d *delivery, a runqueue.Action) {
	w.must(w.head(d) || a.Reason == runqueue.GroupHead || d.early && a.Kind != runqueue.Bury, "a FIFO group is in order",
		"%d", d.index)
	w.reason(d, a)
	holdsClaim := d.phase == claimed || d.phase == parked
	buried := a.Kind == runqueue.Bury
	switch a.Kind {
	case runqueue.Defer:
		w.must(d.phase == idle || d.phase == known, "what has no claim is deferred", "%d in %d", d.index, d.phase)
	case runqueue.Release:
		w.must(holdsClaim, "a claim is given back", "%d in %d", d.index, d.phase)
	case runqueue.Bury:
		plain := !w.config.Ledger && d.phase == idle
		w.must(holdsClaim || plain, "what is claimed is written off", "%d in %d", d.index, d.phase)
		w.must(w.buries(d), "only last receives are written off, after the cut", "%d", d.index)
	}
	if !buried && !d.lost && a.Reason != runqueue.GroupHead {
		w.must(!w.buries(d), "what has no other receive is written off", "%d: %v for %d", d.index, a.Kind, a.Reason)
	}
	d.slot, d.ahead, d.counted = false, false, false
	if a.Kind == runqueue.Defer {
		w.finish(d, false)
		return
	}
	d.released = a.Kind == runqueue.Release
	d.verdict = d.verdict || !w.config.Ledger
	if d.phase = settling; w.config.Ledger {
		w.settles[d.index]++
	}
}

// reason checks that what is said is so.
func (w *world) reason(d *delivery, a runqueue.Action) {
	var ok bool
	switch a.Reason {
	case runqueue.NotAlone:
		ok = a.Kind == runqueue.Release && d.phase == parked && !w.pressing(d)
	case runqueue.NoSlot:
		ok = w.stalled && !w.last(d)
	case runqueue.NoTime:
		ok = w.blocked(d) == runqueue.NoTime || d.lost
	default:
		ok = a.Reason != runqueue.None && a.Reason == w.blocked(d)
		if a.Reason == runqueue.GroupHead {
			ok = w.failed[d.Group]
		}
	}
	w.must(ok, "the reason is true", "%v of %d for %d", a.Kind, d.index, a.Reason)
}

// finish notes the end of a delivery.
func (w *world) finish(d *delivery, acknowledged bool) {
	d.phase, d.slot, d.ahead, d.counted = ended, false, false, false
	if d.Group > 0 && !acknowledged {
		w.failed[d.Group] = true
	}
}
