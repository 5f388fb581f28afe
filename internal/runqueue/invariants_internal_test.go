package runqueue

import (
	"fmt"
	"slices"
)

// Invariants recounts what the queue keeps as counters, and tells what differs.
func (q *Queue) Invariants() []string {
	var wrong []string
	want := counts{ended: 0, started: q.count.started}
	for i := range q.items {
		q.recount(i, &want)
	}
	if want != q.count {
		wrong = append(wrong, fmt.Sprintf("counted %+v, there are %+v", q.count, want))
	}
	if q.count.started < 0 {
		wrong = append(wrong, fmt.Sprintf("%d started", q.count.started))
	}
	for i := range q.items {
		if parked := slices.Contains(q.suspects, i); parked != (q.items[i].state == suspect) {
			wrong = append(wrong, fmt.Sprintf("delivery %d in state %d is a suspect: %v", i, q.items[i].state, parked))
		}
	}
	if !slices.IsSortedFunc(q.suspects, q.compareSuspects) {
		wrong = append(wrong, fmt.Sprintf("suspects are out of order: %v", q.suspects))
	}
	if i := q.asking; i >= 0 && q.items[i].state != suspect {
		wrong = append(wrong, fmt.Sprintf("delivery %d in state %d asks", i, q.items[i].state))
	}
	if i := q.lone; i >= 0 && !slices.Contains([]state{suspect, running, settling}, q.items[i].state) {
		wrong = append(wrong, fmt.Sprintf("delivery %d in state %d has the process", i, q.items[i].state))
	}
	return wrong
}

// recount adds what one delivery counts for.
func (q *Queue) recount(i int, n *counts) {
	it := &q.items[i]
	switch it.state {
	case decoding, keyed, claiming:
		n.begun++
	case settling:
		n.settling++
	case sending:
		n.sending++
		if it.awaited {
			n.awaited++
		}
	case duplicate:
		n.duplicates++
	case ended:
		n.ended++
	case suspect:
		if q.holds(i) {
			n.holding++
		}
	}
	if it.slot {
		n.slots++
	}
	if it.blocksLater {
		n.first++
	}
	if it.first && (it.state >= decoding && it.state < ended) {
		n.ahead++
	}
	if it.verdict && it.state != ended {
		n.verdicts++
	}
}
