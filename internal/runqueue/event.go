package runqueue

// Identified says that a delivery was decoded, and names its job.
func (q *Queue) Identified(i int, job string) {
	it := &q.items[i]
	it.job = job
	it.state = keyed
	q.due = append(q.due, i)
}

// Claimed says that a job is claimed and may run. unsettled is the number of earlier
// claims without a result. crashes is the number of crashes in a row.
func (q *Queue) Claimed(i, unsettled, crashes int) {
	it := &q.items[i]
	it.unsettled, it.crashes = unsettled, crashes
	q.count.begun--
	it.state = claimed
	q.due = append(q.due, i)
	switch {
	case unsettled >= crashSuspect || crashes > 0:
		q.addSuspect(i)
	case !it.slot:
		q.ready.push(it.position)
	}
}

// Settling says that a delivery has its result, which is being written. ran reports
// whether a run has ended. Sending or Ended follows.
func (q *Queue) Settling(i int, ran bool) {
	it := &q.items[i]
	q.leaveState(it)
	it.state = settling
	q.count.settling++
	if ran && !q.flags.ran {
		q.flags.ran, q.flags.sweep = true, true // it may be too late for others now
	}
}

// Sending says that the verdict is written and the dead letter is being sent. Ended
// follows.
func (q *Queue) Sending(i int) {
	it := &q.items[i]
	q.leaveState(it)
	q.freeProcess(i)
	it.state = sending
	q.count.sending++
	if g := it.Group - 1; g >= 0 && q.groups[g].next+1 < len(q.groups[g].members) {
		it.awaited = true
		q.count.awaited++
	}
}

// Promising says that a delivery that is settling or sending will be acknowledged, unless
// a write fails. The next one of its FIFO group is decoded and claimed meanwhile, if it is
// a first delivery. It starts when it is the head. The owner keeps a claim that it got until
// IsHead or IsOver, and answers all else by Postponed.
func (q *Queue) Promising(i int) {
	if q.items[i].Group > 0 && q.IsHead(i) {
		q.promising = append(q.promising, i)
	}
}

// Postponed says that a delivery that was not the head of its FIFO group when it was begun has
// no claim. It is decoded or claimed again in its turn.
func (q *Queue) Postponed(i int) {
	it := &q.items[i]
	again := waiting
	if it.state == claiming {
		again = identified
	}
	q.leaveState(it)
	it.state = again
	if q.IsHead(i) {
		q.begin.push(it.position)
	}
	q.due = append(q.due, i)
}

// Sent says that the queue has the dead letter of a delivery. The next one of its FIFO
// group does not wait for the write that confirms it. Ended follows, or came before.
func (q *Queue) Sent(i int) {
	it := &q.items[i]
	if it.Group == 0 || it.state != sending {
		return
	}
	it.passed = true
	if it.awaited {
		it.awaited = false
		q.count.awaited--
	}
	q.leaveGroup(it.Group, true)
}

// Ended says that a delivery is finished. acknowledged reports whether its message will
// be deleted.
func (q *Queue) Ended(i int, acknowledged bool) {
	it := &q.items[i]
	q.leaveState(it)
	q.freeProcess(i)
	q.end(i, acknowledged)
}

// Refused says that the process did not let a delivery begin or start. Nothing more
// starts until Freed, which must come after the last Refused.
func (q *Queue) Refused(i int) {
	it := &q.items[i]
	q.flags.taken = true
	switch it.state {
	case decoding:
		if it.Group > 0 {
			q.Postponed(i)
			return
		}
		q.count.begun--
		it.state = waiting
		if it.slot {
			q.leaveSlot(it)
			q.begin.push(it.position)
		} else {
			q.count.ahead--
			q.aheadFrom = min(q.aheadFrom, it.position)
		}
	case running:
		q.leaveSlot(it)
		if !q.flags.hopeless { // else others may be on their way to their verdict for it
			q.count.started--
		}
		if q.config.Ledger {
			it.state = claimed
			q.ready.push(it.position)
		} else {
			it.state = waiting
			q.begin.push(it.position)
		}
	}
	q.due = append(q.due, i)
}

// Freed says that the process may let deliveries start again.
func (q *Queue) Freed() { q.flags.taken = false }

// Granted says that the suspect that asked has the process. Nothing else in the process
// starts until Free.
func (q *Queue) Granted(i int) {
	if q.asking != i {
		q.act(Action{Kind: Free, Index: i})
		return
	}
	q.asking, q.lone = -1, i
}

// Denied says that the process was not idle in time for the suspect that asked.
func (q *Queue) Denied(i int) {
	if q.asking != i {
		return
	}
	q.asking = -1
	q.stopWaitingAlone(i)
}

// LoneOver says that a lone run takes too long to keep others from starting.
func (q *Queue) LoneOver(i int) { q.freeProcess(i) }

// Slow says that the claim of a delivery takes long. Later deliveries do not wait for it.
func (q *Queue) Slow(i int) { q.unblockLater(&q.items[i]) }

// Stalled says that no slot has become free for a long time. Waiting deliveries are left
// to another receive, except those at their last one.
func (q *Queue) Stalled() {
	for _, i := range q.order {
		switch it := &q.items[i]; {
		case it.state == suspect && q.lone != i:
			q.withdraw(i)
			q.stopWaitingAlone(i)
		case q.LastReceive(i):
		case it.state == claimed:
			q.release(i, NoSlot)
		case it.state == waiting || it.state == identified:
			if q.IsHead(i) {
				q.deferDelivery(i, NoSlot)
			}
		case it.state == duplicate: // its first may run for hours
			q.deferDelivery(i, NoSlot)
		}
	}
}

// Lost says that another delivery has taken the job of a waiting one. Its claim is
// released with NoTime.
func (q *Queue) Lost(i int) {
	if s := q.items[i].state; s == claimed || s == suspect {
		q.release(i, NoTime)
	}
}

// Late says that there is not enough time to start another job.
func (q *Queue) Late() { q.flags.late, q.flags.sweep = true, true }

// Hopeless says that there is not enough time for the shortest of jobs, not even for one at
// its last receive. Late comes before.
func (q *Queue) Hopeless() { q.flags.hopeless, q.flags.sweep = true, true }

// Cut says that nothing starts any more.
func (q *Queue) Cut() { q.flags.cut, q.flags.sweep = true, true }

// VerdictsOver says that there is no time to dead-letter deliveries that have not run.
func (q *Queue) VerdictsOver() { q.flags.verdictsOver, q.flags.sweep = true, true }

// Drain says that the process is stopping.
func (q *Queue) Drain() { q.flags.draining, q.flags.sweep = true, true }

// Poison says that the process is about to end.
func (q *Queue) Poison() { q.flags.poisoned, q.flags.sweep = true, true }

// Breaker sets whether the breaker is open.
func (q *Queue) Breaker(open bool) {
	if q.flags.breakerOpen == open {
		return
	}
	q.flags.breakerOpen, q.flags.probed, q.probe = open, false, -1
}

// Probed answers whether a delivery may run although the breaker is open.
func (q *Queue) Probed(i int, granted bool) {
	if granted {
		q.probe = i
	}
	q.flags.sweep = true
}
