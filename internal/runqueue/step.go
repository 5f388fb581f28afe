package runqueue

import (
	"cmp"
	"slices"
)

// minVerdicts is the least limit on deliveries that are dead-lettered at the same time
// without a run.
const minVerdicts = 16

// Next returns the actions to carry out now. Call it after one or more events. The
// actions are valid until the next call.
func (q *Queue) Next() []Action {
	if q.flags.breakerOpen && !q.flags.probed {
		q.flags.probed, q.flags.sweep = true, true
		if i := q.probeCandidate(); i >= 0 {
			q.act(Action{Kind: AskProbe, Index: i})
			return q.takeActions()
		}
	}
	for again := true; again; again = q.flags.sweep {
		q.proceed()
		q.startNext()
		q.claimAhead()
		q.claimBehind()
		q.serveSuspects()
	}
	return q.takeActions()
}

// proceed handles the deliveries that changed: it ends those that may not start, and
// starts those that can.
func (q *Queue) proceed() {
	if q.flags.sweep {
		q.flags.sweep = false
		for _, i := range q.order {
			q.endIfBlocked(i)
		}
	}
	for n := 0; n < len(q.due); n++ { //nolint:intrange // it grows meanwhile
		i := q.due[n]
		q.endIfBlocked(i)
		switch it := &q.items[i]; {
		case it.state == keyed:
			q.claim(i)
		case it.state == claimed && it.slot:
			q.start(i)
		}
	}
	q.due = q.due[:0]
	q.beginVerdicts()
}

func (q *Queue) act(a Action) { q.actions = append(q.actions, a) }

// takeActions returns the actions gathered so far.
func (q *Queue) takeActions() []Action {
	out := q.actions
	q.actions, q.spare = q.spare[:0], out
	return out
}

// blockedBy returns why a delivery may not start, now or later; None if it may.
func (q *Queue) blockedBy(i int) Reason {
	switch {
	case q.flags.poisoned:
		return AfterCrash
	case q.items[i].Group > 0 && q.groups[q.items[i].Group-1].failed:
		return GroupHead
	case q.flags.cut:
		return NoTime
	case q.LastReceive(i): // it has no other chance
		if q.flags.hopeless && q.hasBegun() {
			return NoTime
		}
		return None
	case q.flags.draining:
		return Draining
	case q.isTooLate():
		return NoTime
	case q.flags.breakerOpen && q.probe != i:
		return Breaker
	}
	return None
}

// isTooLate reports whether there is no time for another job. At the start of a batch as
// many jobs as there are slots start anyway; otherwise none might ever run.
func (q *Queue) isTooLate() bool { return q.flags.late && q.hasBegun() }

// hasBegun reports whether the batch has started what it starts in any case.
func (q *Queue) hasBegun() bool { return q.flags.ran || q.count.started >= q.config.Slots }

// endIfBlocked ends a waiting delivery that may not start any more.
func (q *Queue) endIfBlocked(i int) {
	it := &q.items[i]
	reason := q.blockedBy(i)
	if reason == None {
		if it.state == suspect && q.isTooLate() && q.lone != i { // at its last receive
			q.withdraw(i)
			q.stopWaitingAlone(i)
		}
		return
	}
	switch it.state {
	case waiting, identified:
		switch {
		case !q.IsHead(i):
		case q.mayDeadLetter(i, reason):
			it.condemned = true
			q.verdicts.push(it.position)
		default:
			q.deferDelivery(i, reason)
		}
	case keyed, duplicate:
		if !q.mayDeadLetter(i, reason) {
			q.deferDelivery(i, reason)
		}
	case claimed, suspect:
		kind := Release
		if q.mayDeadLetter(i, reason) {
			kind = Bury
		}
		q.settleNotRun(i, kind, reason)
	}
}

// mayDeadLetter reports whether a delivery that cannot start must be dead-lettered.
func (q *Queue) mayDeadLetter(i int, reason Reason) bool {
	return reason == NoTime && q.LastReceive(i) && !q.flags.verdictsOver
}

// beginVerdicts starts to dead-letter deliveries that did not run, a limited number at a
// time.
func (q *Queue) beginVerdicts() {
	for q.count.verdicts < max(q.config.Slots, minVerdicts) {
		i := q.peek(&q.verdicts, waiting, identified)
		if i < 0 {
			return
		}
		q.verdicts.pop()
		it := &q.items[i]
		it.verdict = true
		q.count.verdicts++
		it.first = false // it does not wait for a slot
		q.unblockLater(it)
		if q.config.Ledger {
			q.decode(i)
		} else {
			q.settleNotRun(i, Bury, NoTime)
		}
	}
}

// decode begins with a delivery. One that was a duplicate is decoded already.
func (q *Queue) decode(i int) {
	it := &q.items[i]
	q.count.begun++
	if it.state == identified {
		q.act(Action{Kind: Claim, Index: i})
		it.state = claiming
		return
	}
	it.state = decoding
	q.act(Action{Kind: Decode, Index: i, Force: it.verdict})
}

// claim claims a delivery that was decoded, unless it has to wait for a copy before it.
func (q *Queue) claim(i int) {
	it := &q.items[i]
	before, known := q.byJob[it.job]
	if q.byJob == nil {
		q.byJob = map[string]int{}
	}
	q.byJob[it.job] = i
	if !known || q.items[before].state == ended {
		it.state = claiming
		q.act(Action{Kind: Claim, Index: i})
		return
	}
	it.leader, q.items[before].follower = before, i
	q.count.begun--
	q.count.duplicates++
	q.waitIn(i, duplicate)
	q.leaveVerdict(it) // the one before may need the place
}

// claimAhead starts decoding first deliveries before they have a slot.
func (q *Queue) claimAhead() {
	for !q.closed() && q.count.ahead < q.config.Ahead && q.aheadFrom < len(q.order) {
		it := &q.items[q.order[q.aheadFrom]]
		if it.first && it.state == waiting && !it.condemned {
			q.count.ahead++
			q.decode(q.order[q.aheadFrom])
		}
		q.aheadFrom++
	}
}

// claimBehind starts decoding those that are next in their FIFO group, while the head is
// settling or sending.
func (q *Queue) claimBehind() {
	if q.flags.sweep {
		return
	}
	for _, head := range q.promising {
		g := &q.groups[q.items[head].Group-1]
		if !q.IsHead(head) || g.next+1 == len(g.members) || q.closed() || q.count.ahead >= q.config.Ahead {
			continue
		}
		next := g.members[g.next+1]
		it := &q.items[next]
		if it.state == waiting && q.claimsAhead(it) && q.blockedBy(next) == None {
			it.first = true
			q.count.ahead++
			q.decode(next)
		}
	}
	q.promising = q.promising[:0]
}

// barred reports whether the process lets nothing start now.
func (q *Queue) barred() bool {
	return q.lone >= 0 || q.flags.taken || q.asking >= 0 && !q.LastReceive(q.asking)
}

// closed reports whether nothing may begin now, or not before a sweep.
func (q *Queue) closed() bool {
	return q.barred() || q.count.holding > 0 || q.flags.cut || q.flags.sweep
}

// hasRoom reports whether the unanswered settle writes and dead letters are below their
// limits.
func (q *Queue) hasRoom() bool {
	return q.count.settling < q.config.Unsettled && q.count.sending < q.config.Unsent
}

// mustWait reports whether a delivery with an unsettled claim waits until nothing is
// settling.
func (q *Queue) mustWait(i int) bool {
	return q.items[i].unsettled > 0 && q.count.settling+q.count.sending > 0
}

// startNext starts deliveries in order while there are free slots.
func (q *Queue) startNext() {
	for !q.closed() && q.hasRoom() && q.count.slots < q.config.Slots {
		begins, starts := q.nextBegin(), q.nextReady()
		if begins >= 0 && q.waitsForFirst(begins) {
			begins = -1
		}
		switch {
		case begins < 0 && starts < 0:
			return
		case starts >= 0 && (begins < 0 || q.items[starts].position < q.items[begins].position):
			if q.mustWait(starts) {
				return
			}
			q.ready.pop()
			q.run(starts, Start)
		default:
			q.begin.pop()
			if !q.config.Ledger {
				q.run(begins, Start)
				continue
			}
			q.takeSlot(&q.items[begins])
			q.decode(begins)
		}
	}
}

// waitsForFirst reports whether a redelivered message must wait for first deliveries,
// which start before it.
func (q *Queue) waitsForFirst(i int) bool {
	it := &q.items[i]
	return q.count.first > 0 && it.Group == 0 && !q.Urgent(i) && it.Receives > 1
}

// peek returns the first delivery of a set that is still in one of two states; -1 for
// none.
func (q *Queue) peek(p *positions, one, other state) int {
	for len(*p) > 0 {
		i := q.order[p.first()]
		if s := q.items[i].state; s == one || s == other {
			return i
		}
		p.pop()
	}
	return -1
}

// nextBegin returns the next delivery to decode or claim, nextReady the next to start; -1
// for none.
func (q *Queue) nextBegin() int {
	for {
		i := q.peek(&q.begin, waiting, identified)
		if i < 0 || !q.items[i].condemned {
			return i
		}
		q.begin.pop()
	}
}

func (q *Queue) nextReady() int { return q.peek(&q.ready, claimed, claimed) }

// hasNext reports whether a delivery waits for a slot.
func (q *Queue) hasNext() bool {
	return q.count.first > 0 || q.nextBegin() >= 0 || q.nextReady() >= 0
}

// start runs a delivery that was claimed in a slot. If it cannot start at once, it
// releases the slot.
func (q *Queue) start(i int) {
	if q.barred() || !q.hasRoom() || q.mustWait(i) {
		it := &q.items[i]
		q.leaveSlot(it)
		q.ready.push(it.position)
		return
	}
	q.run(i, Start)
}

// run starts a delivery, alone or not.
func (q *Queue) run(i int, kind Kind) {
	it := &q.items[i]
	if !it.slot {
		q.takeSlot(it)
	}
	q.unblockLater(it)
	it.state = running
	inTime := !q.isTooLate()
	q.count.started++
	if inTime && q.isTooLate() {
		q.flags.sweep = true
	}
	q.act(Action{Kind: kind, Index: i, Quiet: kind == Start && it.unsettled > 0})
}

// isQuiet reports whether no delivery of the batch is active.
func (q *Queue) isQuiet() bool {
	return q.count.begun+q.count.slots+q.count.settling+q.count.sending == 0
}

// serveSuspects starts the suspect that has the process, or requests the process for the
// next one.
func (q *Queue) serveSuspects() {
	switch {
	case len(q.suspects) == 0:
	case q.lone >= 0:
		if q.isQuiet() { // else there are claims to give back before
			q.removeSuspect(q.lone)
			q.run(q.lone, StartAlone)
		}
	case q.asking < 0:
		q.ask()
	case q.LastReceive(q.asking) && q.count.holding > 0:
		// The batch waits for another suspect, which can hold the process.
		q.flags.holdersFirst = true
		slices.SortFunc(q.suspects, q.compareSuspects)
		q.withdraw(q.asking)
		q.ask()
	}
}

// ask requests the process for the next suspect when no delivery is active: at once for
// an urgent one, otherwise when nothing else is left to start.
func (q *Queue) ask() {
	if !q.isQuiet() {
		return
	}
	if i := q.suspects[0]; q.Urgent(i) || !q.hasNext() {
		q.asking = i
		q.act(Action{Kind: Ask, Index: i, Hold: !q.LastReceive(i)})
	}
}

// compareSuspects orders suspects: urgent ones first, then those with the fewest crashes.
func (q *Queue) compareSuspects(i, j int) int {
	rank := func(i int) int {
		switch {
		case q.flags.holdersFirst && q.holds(i):
			return 0
		case q.Urgent(i):
			return 1
		default:
			return 2
		}
	}
	x, y := &q.items[i], &q.items[j]
	return cmp.Or(cmp.Compare(rank(i), rank(j)), cmp.Compare(x.crashes, y.crashes), cmp.Compare(x.position, y.position))
}

// probeCandidate returns the delivery to use as a probe while the breaker is open, if
// possible a first delivery; -1 for none.
func (q *Queue) probeCandidate() int {
	best := -1
	for _, i := range q.order {
		if q.blockedBy(i) != Breaker || !q.IsHead(i) {
			continue
		}
		it := &q.items[i]
		if it.state != claimed && it.state != waiting && it.state != identified {
			continue
		}
		if it.Receives <= 1 {
			return i
		}
		if best < 0 {
			best = i
		}
	}
	return best
}
