package runqueue

import "slices"

// holds reports whether the batch starts nothing else until this suspect has run. That is
// so for an urgent suspect, except at its last receive, where it may wait in vain.
func (q *Queue) holds(i int) bool { return q.Urgent(i) && !q.LastReceive(i) }

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

// leaveAhead releases the place of a delivery that was claimed ahead.
func (q *Queue) leaveAhead(it *item) {
	if it.first && it.state != waiting && it.state != ended {
		it.first = false
		q.count.ahead--
	}
}

// unblockLater lets later deliveries start before this one.
func (q *Queue) unblockLater(it *item) {
	if it.blocksLater {
		it.blocksLater = false
		q.count.first--
	}
}

// waitIn releases the slot of a delivery and sets the state in which it waits.
func (q *Queue) waitIn(i int, s state) {
	it := &q.items[i]
	q.leaveSlot(it)
	q.unblockLater(it)
	it.state = s
}

// leaveState subtracts a delivery from the counts of its state.
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
	q.unblockLater(it)
}

// deferDelivery leaves a delivery without a claim to a later receive.
func (q *Queue) deferDelivery(i int, reason Reason) {
	q.act(Action{Kind: Defer, Index: i, Reason: reason})
	q.leaveState(&q.items[i])
	q.end(i, false)
}

// release asks the owner to release a claim.
func (q *Queue) release(i int, reason Reason) { q.settleNotRun(i, Release, reason) }

// settleNotRun ends a delivery that has not run, with an action that Ended answers.
func (q *Queue) settleNotRun(i int, kind Kind, reason Reason) {
	it := &q.items[i]
	q.withdraw(i)
	q.freeProcess(i) // granted, and not yet started
	q.removeSuspect(i)
	q.leaveState(it)
	it.state = settling
	q.count.settling++
	q.act(Action{Kind: kind, Index: i, Reason: reason})
}

// addSuspect makes a claimed delivery wait as a suspect.
func (q *Queue) addSuspect(i int) {
	q.waitIn(i, suspect)
	at, _ := slices.BinarySearchFunc(q.suspects, i, q.compareSuspects)
	q.suspects = slices.Insert(q.suspects, at, i)
	if q.holds(i) {
		q.count.holding++
	}
}

// removeSuspect removes a delivery from the waiting suspects.
func (q *Queue) removeSuspect(i int) {
	if q.items[i].state != suspect {
		return
	}
	at, _ := slices.BinarySearchFunc(q.suspects, i, q.compareSuspects)
	q.suspects = slices.Delete(q.suspects, at, at+1)
	if q.holds(i) {
		q.count.holding--
	}
}

// withdraw cancels the request of a suspect for the process.
func (q *Queue) withdraw(i int) {
	if q.asking == i {
		q.asking = -1
		q.act(Action{Kind: Withdraw, Index: i})
	}
}

// stopWaitingAlone ends the wait of a suspect that did not get the process. Its claim is
// released. If it has few receives left, it runs beside others instead.
func (q *Queue) stopWaitingAlone(i int) {
	if !q.nearLastReceive(i) {
		q.release(i, NotAlone)
		return
	}
	q.removeSuspect(i)
	it := &q.items[i]
	it.state = claimed
	q.ready.push(it.position)
}

// freeProcess releases the process after a lone run.
func (q *Queue) freeProcess(i int) {
	if q.lone == i {
		q.lone = -1
		q.act(Action{Kind: Free, Index: i})
	}
}

// end marks a delivery as ended and unblocks the deliveries that waited for it.
func (q *Queue) end(i int, acknowledged bool) {
	it := &q.items[i]
	it.state = ended
	q.count.ended++
	q.leaveVerdict(it)
	q.leaveCopies(i)
	if it.Group > 0 && !it.passed {
		q.leaveGroup(it.Group, acknowledged)
	}
}

// leaveVerdict releases the place of a delivery that was taken to its verdict.
func (q *Queue) leaveVerdict(it *item) {
	if it.verdict {
		it.verdict = false
		q.count.verdicts--
	}
}

// leaveCopies removes a delivery from the list of copies of its job. The next copy goes
// on if there is none before it.
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
	if q.IsHead(follower) {
		q.begin.push(next.position)
	}
	q.due = append(q.due, follower)
}

// leaveGroup lets the next delivery of a FIFO group begin. After the first failure it
// defers the others, except those that were begun ahead: endIfBlocked ends them when they
// have their answer.
func (q *Queue) leaveGroup(number int, acknowledged bool) {
	g := &q.groups[number-1]
	for g.next < len(g.members) && q.hasLeft(g.members[g.next]) {
		g.next++
	}
	switch {
	case g.failed:
	case !acknowledged:
		g.failed = true
		for _, i := range g.members[g.next:] {
			if s := q.items[i].state; s == waiting || s == identified || s == duplicate {
				q.deferDelivery(i, GroupHead)
			}
		}
	case g.next < len(g.members):
		next := g.members[g.next]
		q.begin.push(q.items[next].position) // in vain if it was begun ahead
		q.due = append(q.due, next)
	}
}

// hasLeft reports whether a delivery does not hold back the others of its group any more.
func (q *Queue) hasLeft(i int) bool { return q.items[i].state == ended || q.items[i].passed }
