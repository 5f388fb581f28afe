package runqueue

// minVerdicts is how many deliveries are at least written off at a time.
const minVerdicts = 16

// Next returns what is to be done now. The actions are valid until the call after
// the next.
func (q *Queue) Next() []Action {
	if q.flags.breakerOpen && !q.flags.probed {
		q.flags.probed, q.flags.sweep = true, true
		if i := q.probeCandidate(); i >= 0 {
			q.act(Action{Kind: AskProbe, Index: i})
			return q.taken()
		}
	}
	if q.flags.sweep {
		q.flags.sweep = false
		q.sweep()
	}
	q.claimAhead()
	q.startNext()
	q.ask()
	return q.taken()
}

func (q *Queue) act(a Action) { q.actions = append(q.actions, a) }

// taken returns the actions gathered so far.
func (q *Queue) taken() []Action {
	out := q.actions
	q.actions, q.spare = q.spare[:0], out
	return out
}

// blockedBy returns why a delivery may not start, now or later; None if it may.
func (q *Queue) blockedBy(i int) Reason {
	it := &q.items[i]
	switch {
	case q.flags.poisoned:
		return AfterCrash
	case it.Group > 0 && q.groups[it.Group-1].failed:
		return GroupHead
	case q.flags.cut:
		return NoTime
	case q.LastReceive(i):
		return None // it has no other chance
	case q.flags.draining:
		return Draining
	case q.isTooLate():
		return NoTime
	case q.flags.breakerOpen && !it.probe:
		return Breaker
	}
	return None
}

// isTooLate reports whether there is no time for another job. At the begin of a batch
// as many as there are slots start all the same: else none might ever run.
func (q *Queue) isTooLate() bool {
	return q.flags.late && (q.flags.ran || q.count.started >= q.config.Slots)
}

// sweep sends home what may not start any more.
func (q *Queue) sweep() {
	for _, i := range q.order {
		it := &q.items[i]
		reason := q.blockedBy(i)
		if reason == None && !(it.state == suspect && q.isTooLate() && q.LastReceive(i)) {
			continue
		}
		switch it.state {
		case waiting, identified:
			switch {
			case !q.isHead(i):
			case q.mayBury(i, reason):
				q.beginVerdict(i)
			default:
				q.defers(i, reason)
			}
		case duplicate:
			if reason != NoTime || !q.LastReceive(i) || q.flags.verdictsOver {
				q.defers(i, reason)
			}
		case claimed:
			q.releaseOrBury(i, reason)
		case suspect:
			q.withdraw(i)
			if reason == None {
				q.giveUpAlone(i)
				continue
			}
			q.releaseOrBury(i, reason)
		}
	}
}

// mayBury reports whether a delivery that cannot start is to be written off.
func (q *Queue) mayBury(i int, reason Reason) bool {
	return reason == NoTime && q.flags.cut && q.LastReceive(i) && !q.flags.verdictsOver
}

func (q *Queue) releaseOrBury(i int, reason Reason) {
	if q.mayBury(i, reason) {
		q.settles(i, Bury, reason)
		return
	}
	q.release(i, reason)
}

// beginVerdict takes a delivery to its verdict, as long as not too many are.
func (q *Queue) beginVerdict(i int) {
	it := &q.items[i]
	if it.verdict {
		return
	}
	if q.count.verdicts >= max(q.config.Slots, minVerdicts) {
		return // swept again when one has ended
	}
	it.verdict = true
	q.count.verdicts++
	if !q.config.Ledger {
		q.settles(i, Bury, NoTime)
		return
	}
	q.decode(i)
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

// claimAhead begins with first deliveries before they have a slot.
func (q *Queue) claimAhead() {
	if q.closed() || q.flags.breakerOpen && q.flags.probed {
		q.claimProbe()
		return
	}
	for q.count.ahead < q.config.Ahead && q.aheadFrom < len(q.order) {
		it := &q.items[q.order[q.aheadFrom]]
		if it.first && it.state == waiting {
			q.count.ahead++
			q.decode(q.order[q.aheadFrom])
		}
		q.aheadFrom++
	}
}

// claimProbe begins with the one delivery that may run although the breaker is open.
func (q *Queue) claimProbe() {
	if q.closed() || q.count.ended == len(q.items) {
		return
	}
	for i := range q.items {
		if it := &q.items[i]; it.probe && it.first && it.state == waiting {
			q.count.ahead++
			q.decode(i)
		}
	}
}

// closed reports whether nothing begins for now.
func (q *Queue) closed() bool {
	return q.lone >= 0 || q.flags.taken || q.count.holding > 0 || q.flags.poisoned || q.flags.cut ||
		q.asking >= 0 && !q.LastReceive(q.asking)
}

// startNext starts what is next in the order while there are free slots.
func (q *Queue) startNext() {
	for !q.closed() && q.count.slots < q.config.Slots &&
		q.count.settling < q.config.Unsettled && q.count.sending < q.config.Unsent {
		begins, starts := q.peek(&q.begin, waiting, identified), q.peek(&q.ready, claimed, claimed)
		if begins >= 0 && q.waitsForFirst(begins) {
			begins = -1
		}
		switch {
		case begins < 0 && starts < 0:
			return
		case starts >= 0 && (begins < 0 || q.items[starts].position < q.items[begins].position):
			if q.items[starts].unsettled > 0 && q.count.settling+q.count.sending > 0 {
				return
			}
			q.ready.pop()
			q.takeSlot(&q.items[starts])
			q.start(starts)
		default:
			q.begin.pop()
			it := &q.items[begins]
			q.takeSlot(it)
			if q.config.Ledger {
				q.decode(begins)
			} else {
				q.start(begins)
			}
		}
	}
}

// waitsForFirst reports whether a redelivered message waits for first deliveries,
// which come before it.
func (q *Queue) waitsForFirst(i int) bool {
	it := &q.items[i]
	return q.count.first > 0 && it.Group == 0 && it.state == waiting && !q.Urgent(i) && it.Receives > 1
}

// peek returns the first of a set that has one of two states still; -1 for none.
func (q *Queue) peek(p *positions, one, other state) int {
	for p.Len() > 0 {
		i := q.order[p.first()]
		if s := q.items[i].state; s == one || s == other {
			return i
		}
		p.pop()
	}
	return -1
}

// start runs a delivery that holds a slot. One with an unsettled claim waits until
// nothing is settling.
func (q *Queue) start(i int) {
	it := &q.items[i]
	if it.unsettled > 0 && q.count.settling+q.count.sending > 0 {
		q.leaveSlot(it)
		q.ready.push(it.position)
		return
	}
	it.state = running
	q.uncount(it)
	q.count.started++
	q.act(Action{Kind: Start, Index: i, Quiet: it.unsettled > 0})
}

// ask asks for the process for the next suspect: one that holds the batch back as
// soon as nothing is at work, others when nothing else is left to start.
func (q *Queue) ask() {
	if len(q.suspects) == 0 || q.asking >= 0 || q.lone >= 0 || q.flags.poisoned || q.flags.cut {
		return
	}
	if q.count.slots+q.count.settling+q.count.sending+q.count.begun > 0 {
		return
	}
	i := q.nextSuspect()
	if !q.Urgent(i) && (q.begin.Len() > 0 || q.ready.Len() > 0 || q.count.first > 0) {
		return
	}
	q.asking = i
	q.act(Action{Kind: Ask, Index: i, Hold: !q.LastReceive(i)})
}

// nextSuspect returns the suspect to run first: an urgent one, else the one with the
// fewest crashes.
func (q *Queue) nextSuspect() int {
	best := q.suspects[0]
	for _, i := range q.suspects[1:] {
		x, y := &q.items[i], &q.items[best]
		switch {
		case q.Urgent(i) != q.Urgent(best):
			if q.Urgent(i) {
				best = i
			}
		case x.crashes != y.crashes:
			if x.crashes < y.crashes {
				best = i
			}
		case x.position < y.position:
			best = i
		}
	}
	return best
}

// probeCandidate returns the delivery that is to run although the breaker is open: a
// first delivery if there is one, and rather a claimed one; -1 for none.
func (q *Queue) probeCandidate() int {
	best, bestRank := -1, 0
	for _, i := range q.order {
		it, rank := &q.items[i], 0
		switch {
		case q.LastReceive(i) || !q.isHead(i):
		case it.state == claimed:
			rank = 2
		case it.state == waiting || it.state == identified:
			rank = 1
		}
		if rank > 0 && it.Receives <= 1 {
			rank += 2
		}
		if rank > bestRank {
			best, bestRank = i, rank
		}
	}
	return best
}
