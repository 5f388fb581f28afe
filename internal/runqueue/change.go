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
	case decoding, keyed, claiming:
		q.count.begun--
	case duplicate:
		q.count.duplicates--
	case settling:
		q.count.settling--
	case sending:
		q.count.sending--
		if it.awaited {
			it.awaited = false
			q.count.awaited--
		}
	}
	q.leaveSlot(it)
	q.uncount(it)
}

// defers leaves a delivery without a claim to a later receive.
func (q *Queue) defers(i int, reason Reason) {
	q.act(Action{Kind: Defer, Index: i, Reason: reason})
	q.leaveState(&q.items[i])
	q.end(i, false)
}

// release gives a claim back.
func (q *Queue) release(i int, reason Reason) { q.settles(i, Release, reason) }

// settles ends a delivery that has not run, by an action that Ended answers.
func (q *Queue) settles(i int, kind Kind, reason Reason) {
	it := &q.items[i]
	q.withdraw(i)
	q.freeProcess(i) // granted, and not yet started
	q.unpark(i)
	q.leaveState(it)
	it.state = settling
	q.count.settling++
	q.act(Action{Kind: kind, Index: i, Reason: reason})
}

// park puts a suspect into the line.
func (q *Queue) park(i int) {
	q.waitFor(i, suspect)
	at, _ := slices.BinarySearchFunc(q.suspects, i, q.compareSuspects)
	q.suspects = slices.Insert(q.suspects, at, i)
	if q.holds(i) {
		q.count.holding++
	}
}

// unpark takes a suspect out of the line.
func (q *Queue) unpark(i int) {
	if q.items[i].state != suspect {
		return
	}
	at, _ := slices.BinarySearchFunc(q.suspects, i, q.compareSuspects)
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
	if !q.pressing(i) {
		q.release(i, NotAlone)
		return
	}
	q.unpark(i)
	it := &q.items[i]
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
	q.leaveVerdict(it)
	q.leaveCopies(i)
	if it.Group > 0 {
		q.leaveGroup(it.Group, acknowledged)
	}
}

// leaveVerdict gives back the place of a delivery that is being written off.
func (q *Queue) leaveVerdict(it *item) {
	if it.verdict {
		it.verdict = false
		q.count.verdicts--
	}
}

// leaveCopies takes a delivery out of the copies of its job. The next one goes on if
// there is none before it.
func (q *Queue) leaveCopies(i int) {
	it := &q.items[i]
	leader, follower := it.leader, it.follower
	if leader >= 0 {
		q.items[leader].follower = follower
		if q.byJob[it.job] == i {
			q.byJob[it.job] = leader
		}
	}
	if follower < 0 {
		return
	}
	next := &q.items[follower]
	if next.leader = leader; leader >= 0 {
		return
	}
	q.count.duplicates--
	next.state = identified
	q.begin.push(next.position)
	q.due = append(q.due, follower)
}

// leaveGroup lets the next of a FIFO group begin, or sends the rest home.
func (q *Queue) leaveGroup(number int, acknowledged bool) {
	g := &q.groups[number-1]
	g.next++
	if g.next == len(g.members) {
		return
	}
	if acknowledged && !g.failed {
		next := g.members[g.next]
		q.begin.push(q.items[next].position)
		q.due = append(q.due, next)
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
