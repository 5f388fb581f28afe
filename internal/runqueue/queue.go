// Package runqueue decides which delivery of a batch runs next.
//
// It is a state machine over the positions of a batch. Events are its input, and
// [Queue.Next] returns the actions that follow. It has no goroutine and no clock and does
// not know messages. Its owner carries out the actions and reports the passing of time as
// events.
//
// A delivery goes through these stages; without a ledger it starts at once:
//
//	Decode → Identified → Claim → Claimed → Start → Settling → Sending → Ended
//
// First deliveries of a standard queue are decoded and claimed before they have a slot
// (ahead), others when they have one. In a FIFO group the next first delivery is decoded and
// claimed while its head is settling or sending. A delivery that has a slot and cannot start
// releases the slot and keeps its claim. Defer, Release and Bury end a delivery that does
// not run. A copy of a job waits after Identified until the copy before it has ended. A
// suspect is a job with two claims without a result, or with a crash. It waits after
// Claimed, asks for the process, and runs alone.
package runqueue

import (
	"cmp"
	"slices"
)

// Delivery is the information about a delivery before its payload is decoded.
type Delivery struct {
	// Receives is how often SQS has delivered it, this time included.
	Receives int
	// Group is the number of its FIFO group, from 1; 0 for a standard queue.
	Group int
}

// Config has the settings of a Queue.
type Config struct {
	// Slots is how many deliveries run at the same time, at least 1.
	Slots int
	// Ahead is how many claimed deliveries may wait for a slot; 0 claims none ahead.
	Ahead int
	// Unsettled is the limit on unanswered settle writes when a job starts, at least 1.
	Unsettled int
	// Unsent is the limit on dead letters without an answer when a job starts, at least
	// 1.
	Unsent int
	// MaxReceives is the maxReceiveCount of the source queue; 0 for unknown.
	MaxReceives int
	// Ledger reports whether jobs are claimed.
	Ledger bool
}

// unknownMaxReceives is used in place of an unknown maxReceiveCount.
const unknownMaxReceives = 30

// crashSuspect is the number of unsettled claims that makes a job a suspect.
const crashSuspect = 2

type state uint8

const (
	waiting state = iota
	decoding
	// keyed is decoded; proceed has not yet handled it.
	keyed
	// duplicate waits for an earlier delivery of the same job in this batch.
	duplicate
	// identified is decoded and not claimed: the copy before it has ended.
	identified
	claiming
	// claimed waits for a slot.
	claimed
	// suspect is claimed and waits to run alone.
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
	// slot reports whether it holds a slot. condemned reports whether it will not run and
	// is to be dead-lettered, verdict whether that has begun.
	slot, condemned, verdict bool
	// first reports whether it is claimed ahead. blocksLater reports whether later
	// deliveries wait until it has started.
	first, blocksLater bool
	// awaited reports whether the next delivery of its FIFO group waits for its dead
	// letter, passed whether it does not wait any more, since the letter has arrived.
	awaited, passed bool
	// unsettled and crashes are the numbers that came with Claimed.
	unsettled, crashes int
	// leader is the copy of the same job before this one, follower the copy after it; -1
	// for none.
	leader, follower int
	job              string
}

type group struct {
	// members are the deliveries in order; next is the index of the first that holds the
	// others back. failed reports whether one was not acknowledged.
	members []int
	next    int
	failed  bool
}

// counts are derived from the items, so that no step iterates over all of them.
type counts struct {
	// first is the number of first deliveries that later ones wait for. ahead is the
	// number that are claimed, or being claimed, without a slot.
	first, ahead int
	// begun is the number of deliveries that are being decoded or claimed. duplicates is
	// the number of copies that wait for an earlier one.
	begun, duplicates        int
	slots, settling, sending int
	// awaited is the number of dead letters that the next delivery of a FIFO group waits
	// for.
	awaited                  int
	verdicts, ended, started int
	// holding is the number of suspects that keep the batch from starting anything else.
	holding int
}

type flags struct {
	poisoned, draining, late, hopeless, cut, verdictsOver, breakerOpen bool
	// taken reports whether the process refused a delivery.
	taken bool
	// ran reports whether a run has ended, probed whether a probe was requested.
	ran, probed bool
	// holdersFirst reports whether suspects that hold the batch run before those at their
	// last receive. It is set when one of the latter waits for the process in vain.
	holdersFirst bool
	// sweep reports whether the next step must check every delivery that waits.
	sweep bool
}

// Queue is the state of a batch. It is not safe for concurrent use.
type Queue struct {
	config Config
	items  []item
	// order has the indices of items by position.
	order  []int
	groups []group

	// begin has the deliveries that may be decoded in a slot, ready those that are
	// claimed and may start.
	begin, ready positions
	// aheadFrom is the position of the first delivery that may be claimed ahead.
	aheadFrom int
	// suspects are in the order in which they are to run.
	suspects []int
	// verdicts has the deliveries that will be dead-lettered without a run.
	verdicts positions
	// due has the deliveries that changed since the last call of Next.
	due []int
	// promising are the heads of FIFO groups behind which the next one is claimed ahead.
	promising []int
	// byJob has the last identified delivery of each job.
	byJob map[string]int

	count counts
	flags flags
	// asking is the suspect that waits for the process, lone the one that has it; -1 for
	// none.
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
			it.first, it.blocksLater = true, true
			q.count.first++
		default:
			q.begin.push(position)
		}
	}
	return q
}

// sort orders the deliveries: those at their last receive first, then those with half of
// their receives used, the most used of them first, then first deliveries, then the
// others. FIFO queues keep their order.
func (q *Queue) sort() {
	rank := func(i int) (rank, used int) {
		switch it := &q.items[i]; {
		case it.Group > 0:
			return 0, 0
		case q.LastReceive(i):
			return 1, 0
		case q.Urgent(i):
			return 2, it.Receives
		case it.Receives <= 1:
			return 3, 0
		default:
			return 4, 0
		}
	}
	byRank := func(i, j int) int {
		rankI, usedI := rank(i)
		rankJ, usedJ := rank(j)
		return cmp.Or(cmp.Compare(rankI, rankJ), cmp.Compare(usedJ, usedI))
	}
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

// nearLastReceive reports whether three quarters of the receives are used up.
func (q *Queue) nearLastReceive(i int) bool { return 4*q.items[i].Receives >= 3*q.maxReceives() }

func (q *Queue) maxReceives() int {
	if q.config.MaxReceives > 0 {
		return q.config.MaxReceives
	}
	return unknownMaxReceives
}

// Idle reports whether every delivery has ended.
func (q *Queue) Idle() bool { return q.count.ended == len(q.items) }

// Flush reports whether dead letters must be sent before their pack is full: no more are
// expected, or something waits for their confirmation.
func (q *Queue) Flush() bool {
	next := q.nextReady()
	return q.count.slots+q.count.settling+q.count.begun == 0 ||
		q.count.sending >= q.config.Unsent ||
		len(q.suspects) > 0 || q.count.duplicates > 0 || q.count.awaited > 0 ||
		next >= 0 && q.items[next].unsettled > 0
}

// Waiting reports whether a delivery waits for a slot, for the process, for an earlier
// copy of its job, or to be dead-lettered.
func (q *Queue) Waiting() bool {
	return len(q.suspects) > 0 || q.count.duplicates > 0 || q.hasNext() ||
		q.peek(&q.verdicts, waiting, identified) >= 0
}

// IsHead reports whether no earlier delivery of its FIFO group holds a delivery back; true
// without a group.
func (q *Queue) IsHead(i int) bool {
	it := &q.items[i]
	if it.Group == 0 {
		return true
	}
	g := &q.groups[it.Group-1]
	return g.next < len(g.members) && g.members[g.next] == i
}

// IsOver reports whether a delivery will not run, and will have no verdict, whatever becomes
// of those before it.
func (q *Queue) IsOver(i int) bool {
	switch {
	case q.flags.poisoned:
		return true
	case q.flags.cut:
		return !q.mayDeadLetter(i, NoTime)
	default:
		return q.flags.draining && !q.LastReceive(i)
	}
}

// Lone returns the delivery that runs alone; -1 for none.
func (q *Queue) Lone() int { return q.lone }
