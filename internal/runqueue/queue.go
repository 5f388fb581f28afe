// Package runqueue decides which delivery of a batch runs next.
//
// It is a state machine over the positions of a batch. Events go in, and
// [Queue.Next] returns the actions that follow from them. It has no goroutine and
// no clock, and knows no message: its owner carries out the actions, and turns the
// passing of time into events.
//
// A delivery goes this way; without a ledger it starts at once:
//
//	Decode → Identified → Claim → Claimed → Start → Settling → Sending → Ended
//
// First deliveries of a standard queue are decoded and claimed ahead of a slot,
// others when they have one. Those that cannot start then give the slot up and keep
// their claim. A delivery that ends before it starts, or is sent home by Defer,
// Release or Bury, leaves the way. A copy of a job waits after Identified until the
// one before it has ended. A suspect, a job whose claim shows two runs without a
// result or a crash, waits after Claimed, asks for the process, and starts alone.
package runqueue

import (
	"cmp"
	"slices"
)

// Delivery is what is known of a delivery before its payload is decoded.
type Delivery struct {
	// Receives is how often SQS has handed it out, this time included.
	Receives int
	// Group is the number of its FIFO group, from 1; 0 for a standard queue.
	Group int
}

// Config is the setting of a Queue.
type Config struct {
	// Slots is how many deliveries run at a time, at least 1.
	Slots int
	// Ahead is how many claimed deliveries may wait for a slot; 0 claims none ahead.
	Ahead int
	// Unsettled is how many settles may be unanswered when a job starts, at least 1.
	Unsettled int
	// Unsent is how many dead letters may be on their way then, at least 1.
	Unsent int
	// MaxReceives is the maxReceiveCount of the source queue; 0 for unknown.
	MaxReceives int
	// Ledger reports whether jobs are claimed.
	Ledger bool
}

// unknownMaxReceives stands for a maxReceiveCount that is not known.
const unknownMaxReceives = 30

// crashSuspect is how many unsettled claims make a suspect.
const crashSuspect = 2

type state uint8

const (
	waiting state = iota
	decoding
	// keyed is decoded and was not looked at since.
	keyed
	// duplicate waits for an earlier delivery of the same job in this batch.
	duplicate
	// identified is decoded and not claimed, since it was a duplicate.
	identified
	claiming
	// claimed waits for a slot.
	claimed
	// suspect is claimed and waits for the process.
	suspect
	running
	settling
	sending
	ended
)

type item struct {
	Delivery
	// position is its place in the order.
	position int
	state    state
	// slot reports whether it holds a slot, and verdict whether it does not run any
	// more but is only to be written off.
	slot, verdict bool
	// first reports whether it is claimed ahead; counted, whether later deliveries
	// wait for it to start.
	first, counted bool
	// awaited reports whether the next of its FIFO group waits for its letter.
	awaited bool
	// unsettled and crashes are what its claim showed.
	unsettled, crashes int
	// leader is the copy of the same job that this one follows, follower the one that
	// follows it; -1 for none.
	leader, follower int
	job              string
}

type group struct {
	// members are in their order; next is the first that has not ended.
	members []int
	next    int
	failed  bool
}

// counts are derived from the items, so that no step has to walk over all of them.
type counts struct {
	// first is the number of first deliveries for which later ones wait, and ahead
	// that of those claimed, or being claimed, without a slot.
	first, ahead int
	// begun is the number of deliveries that are being decoded or claimed, duplicates
	// that of copies that wait for one before them.
	begun, duplicates        int
	slots, settling, sending int
	// awaited is the number of letters for which the next of a FIFO group waits.
	awaited                  int
	verdicts, ended, started int
	// holding is the number of suspects for which the batch starts nothing else.
	holding int
}

type flags struct {
	poisoned, draining, late, cut, verdictsOver, breakerOpen bool
	// taken reports whether the process refused a begin or a start.
	taken bool
	// ran reports whether a run has ended, and probed whether a probe was asked for.
	ran, probed bool
	// holdersFirst reports whether suspects that hold the batch go before those at
	// their last receive, of which one asked for the process in vain.
	holdersFirst bool
	// sweep reports whether any delivery may have to be sent home.
	sweep bool
}

// Queue is the state of a batch. It is not safe for concurrent use.
type Queue struct {
	config Config
	items  []item
	// order has the indices of items by position.
	order  []int
	groups []group

	// begin has what may be decoded in a slot, ready what is claimed and may start.
	begin, ready positions
	// aheadFrom is the position of the first delivery that may be claimed ahead.
	aheadFrom int
	// suspects are in the order in which they are to run.
	suspects []int
	// verdicts has what is to be written off.
	verdicts positions
	// due has deliveries that Next has to look at, since something has happened to
	// them.
	due []int
	// byJob has the delivery that was identified last, by job.
	byJob map[string]int

	count counts
	flags flags
	// asking is the suspect that asked for the process, lone the one that has it;
	// -1 for none.
	asking, lone int
	// probe is the delivery that may run although the breaker is open; -1 for none.
	probe int

	actions, spare []Action
}

// New returns the queue of a batch.
func New(deliveries []Delivery, config Config) *Queue {
	q := &Queue{config: config, asking: -1, lone: -1, probe: -1}
	q.items = make([]item, len(deliveries))
	q.order = make([]int, len(deliveries))
	for i, d := range deliveries {
		q.items[i] = item{Delivery: d, leader: -1, follower: -1}
		q.order[i] = i
		if d.Group > len(q.groups) {
			q.groups = append(q.groups, make([]group, d.Group-len(q.groups))...)
		}
	}
	q.sort()
	q.begin = make(positions, 0, len(deliveries))
	for position, i := range q.order {
		it := &q.items[i]
		it.position = position
		switch {
		case it.Group > 0:
			g := &q.groups[it.Group-1]
			if g.members = append(g.members, i); len(g.members) == 1 {
				q.begin.push(position)
			}
		case q.claimsAhead(it):
			it.first, it.counted = true, true
			q.count.first++
		default:
			q.begin.push(position)
		}
	}
	return q
}

// sort puts first what has no other receive, then what has used up half of its
// receives, then first deliveries, then the others. FIFO queues keep their order.
func (q *Queue) sort() {
	rank := func(i int) int {
		switch it := &q.items[i]; {
		case it.Group > 0:
			return 0
		case q.LastReceive(i):
			return 1
		case q.Urgent(i):
			return 2
		case it.Receives <= 1:
			return 3
		default:
			return 4
		}
	}
	byRank := func(i, j int) int { return cmp.Compare(rank(i), rank(j)) }
	if !slices.IsSortedFunc(q.order, byRank) {
		slices.SortStableFunc(q.order, byRank)
	}
}

// claimsAhead reports whether a delivery is claimed before it has a slot.
func (q *Queue) claimsAhead(it *item) bool {
	return q.config.Ledger && q.config.Ahead > 0 && it.Receives <= 1
}

// LastReceive reports whether SQS would move the delivery at its next receive.
func (q *Queue) LastReceive(i int) bool {
	return q.config.MaxReceives > 0 && q.items[i].Receives >= q.config.MaxReceives
}

// Urgent reports whether half of the receives are used up.
func (q *Queue) Urgent(i int) bool { return 2*q.items[i].Receives >= q.maxReceives() }

// pressing reports whether three quarters of the receives are used up.
func (q *Queue) pressing(i int) bool { return 4*q.items[i].Receives >= 3*q.maxReceives() }

func (q *Queue) maxReceives() int {
	if q.config.MaxReceives > 0 {
		return q.config.MaxReceives
	}
	return unknownMaxReceives
}

// Idle reports whether every delivery has ended.
func (q *Queue) Idle() bool { return q.count.ended == len(q.items) }

// Flush reports whether letters are to go out before their pack is full: no more
// are about to come, or something waits until they are confirmed.
func (q *Queue) Flush() bool {
	next := q.nextReady()
	return q.count.slots == 0 && q.count.settling == 0 ||
		q.count.sending >= q.config.Unsent ||
		len(q.suspects) > 0 || q.count.duplicates > 0 || q.count.awaited > 0 ||
		next >= 0 && q.items[next].unsettled > 0
}

// Waiting reports whether a delivery waits for a slot or for the process.
func (q *Queue) Waiting() bool { return len(q.suspects) > 0 || q.hasNext() }

// Lone is the delivery that runs alone; -1 for none.
func (q *Queue) Lone() int { return q.lone }
