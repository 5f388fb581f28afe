package runqueue

import "slices"

// holds reports whether the batch starts nothing else until this suspect has run: it
// is urgent, but not at its last receive, where it may wait in vain.
func (q *Queue) holds(i int) bool { return q.Urgent(i) && !q.LastReceive(i) }

// isHead reports whether all before it in its FIFO group have ended; true without a
// group.
func (q *Queue) isHead(i int) bool {
	it := &q.items[i]
	if it.Group == 0 {
		return true
	}
	g := &q.groups[it.Group-1]
	return g.next < len(g.members) && g.members[g.next] == i
}

func (q *Queue) takeSlot(it *item) {
	it.slot = true
	q.count.slots++
	q.leaveAhead(it)
}

func (q *Queue) leaveSlot(it *item) {
	if it.slot {
		it.slot = false
		q.count.slots--
	}
	q.leaveAhead(it)
}

// leaveAhead gives back the place of a delivery that was claimed ahead.
func (q *Queue) leaveAhead(it *item) {
	if it.first && it.state != waiting && it.state != ended {
		it.first = false
		q.count.ahead--
	}
}

// uncount lets later deliveries start before this one.
func (q *Queue) uncount(it *item) {
	if it.counted {
		it.counted = false
		q.count.first--
	}
}

// waitFor gives up the slot of a delivery that has to wait.
func (q *Queue) waitFor(i int, s state) {
	it := &q.items[i]
	q.leaveSlot(it)
	q.uncount(it)
	it.state = s
}

// leaveState takes a delivery out of what it is counted under.
func (q *Queue) leaveState(it *item) {
	switch it.state {
	case decoding, claiming:
		q.count.begun--
	case settling:
		q.count.settling--
	case sending:
		q.count.sending--
	}
	q.leaveSlot(it)
	q.uncount(it)
}

// defers leaves a delivery without a claim to a later receive.
func (q *Queue) defers(i int, reason Reason) {
	it := &q.items[i]
	if it.state == decoding || it.state == claiming {
		it.state = identified // it is counted off by the caller
	}
	q.act(Action{Kind: Defer, Index: i, Reason: reason})
	q.leaveSlot(it)
	q.uncount(it)
	q.end(i, false)
}

// release gives a claim back.
func (q *Queue) release(i int, reason Reason) { q.settles(i, Release, reason) }

// settles ends a delivery that has not run, by an action that Ended answers.
func (q *Queue) settles(i int, kind Kind, reason Reason) {
	it := &q.items[i]
	q.withdraw(i)
	q.unpark(i)
	q.leaveSlot(it)
	q.uncount(it)
	it.state = settling
	q.count.settling++
	q.act(Action{Kind: kind, Index: i, Reason: reason})
}

// unpark takes a suspect out of the line.
func (q *Queue) unpark(i int) {
	at := slices.Index(q.suspects, i)
	if at < 0 {
		return
	}
	q.suspects = slices.Delete(q.suspects, at, at+1)
	if q.holds(i) {
		q.count.holding--
	}
}

// withdraw takes back what a suspect has asked for.
func (q *Queue) withdraw(i int) {
	if q.asking == i {
		q.asking = -1
		q.act(Action{Kind: Withdraw, Index: i})
	}
}

// giveUpAlone is for a suspect that did not get the process: it comes back later, or
// runs beside others where it has not many receives left.
func (q *Queue) giveUpAlone(i int) {
	if !q.pressing(i) && !q.LastReceive(i) {
		q.release(i, NotAlone)
		return
	}
	q.unpark(i)
	it := &q.items[i]
	it.denied = true
	it.state = claimed
	q.ready.push(it.position)
}

// freeProcess gives back the process of a lone run.
func (q *Queue) freeProcess(i int) {
	if q.lone == i {
		q.lone = -1
		q.act(Action{Kind: Free, Index: i})
	}
}

// end marks a delivery as ended, and lets go what waited for it.
func (q *Queue) end(i int, acknowledged bool) {
	it := &q.items[i]
	it.state = ended
	q.count.ended++
	if it.verdict {
		q.count.verdicts--
		q.flags.sweep = true
	}
	if follower := it.follower; follower >= 0 && q.items[follower].state == duplicate {
		q.items[follower].state = identified
		q.begin.push(q.items[follower].position)
		q.flags.sweep = true
	}
	if it.Group > 0 {
		q.leaveGroup(it.Group, acknowledged)
	}
}

// leaveGroup lets the next of a FIFO group begin, or sends the rest home.
func (q *Queue) leaveGroup(number int, acknowledged bool) {
	g := &q.groups[number-1]
	g.next++
	if g.next == len(g.members) {
		return
	}
	if acknowledged && !g.failed {
		q.begin.push(q.items[g.members[g.next]].position)
		q.flags.sweep = true
		return
	}
	if g.failed {
		return // the first that failed sends all the others home
	}
	g.failed = true
	for g.next < len(g.members) {
		q.defers(g.members[g.next], GroupHead) // moves next on
	}
}
