package sqs

import (
	"strings"
	"time"
)

// maxInFlight is the maximum number of messages in flight per queue (AWS
// limit).
const maxInFlight = 120_000

// queue is a queue and its messages. The service's lock guards it.
type queue struct {
	name, arn         string
	settings          settings
	created, modified time.Time
	purged            time.Time
	gone              bool // whether the queue was deleted
	tags              map[string]string

	messages map[string]*message // by id
	counts   [states]int
	shows    schedule
	expires  schedule
	order    receiveOrder
	dedup    deduplication
	// A change of the deduplication scope takes effect later; until then the old one is in force.
	oldScope      string
	oldScopeUntil time.Time
	attempts      []attempt // of a FIFO queue, the oldest first
	moves         []*move   // the latest first

	waiters waiters
	alarm   alarm
}

func newQueue(name, arn string, set settings, now time.Time) *queue {
	q := &queue{name: name, arn: arn, settings: set, created: now, modified: now}
	q.empty()
	return q
}

func (q *queue) fifo() bool { return isFIFO(q.name) }

func isFIFO(name string) bool { return strings.HasSuffix(name, fifoSuffix) }

// empty deletes all messages. The deduplication ids stay remembered.
func (q *queue) empty() {
	q.messages = map[string]*message{}
	q.counts = [states]int{}
	q.shows = schedule{which: toShow}
	q.expires = schedule{which: toExpire}
	q.order = &standardOrder{}
	if q.fifo() {
		q.order = newFIFOOrder()
	}
}

// ready reports whether a receive would return a message or move one to the
// dead-letter queue.
func (q *queue) ready() bool { return q.order.ready() && q.counts[inFlight] < maxInFlight }

// add adds a message to the queue, visible after the delay.
func (q *queue) add(m *message, now time.Time, delay time.Duration) {
	m.state, m.arrived = visible, now
	if delay > 0 {
		m.state = delayed
		q.shows.put(m, now.Add(delay))
	}
	q.messages[m.id] = m
	q.counts[m.state]++
	q.expires.put(m, m.sent)
	q.order.arrive(m)
}

// set changes the state of a message; until is when it becomes visible again.
func (q *queue) set(m *message, to state, until time.Time) {
	q.counts[m.state]--
	q.counts[to]++
	m.state = to
	if to == visible {
		q.shows.remove(m)
	} else {
		q.shows.put(m, until)
	}
	q.order.update(m)
}

// remove removes a message from the queue.
func (q *queue) remove(m *message) {
	delete(q.messages, m.id)
	q.counts[m.state]--
	q.shows.remove(m)
	q.expires.remove(m)
	q.order.leave(m)
}

// advance advances the queue to the current time: messages whose delay or
// visibility timeout has ended become visible, and those older than the
// retention period are removed.
func (q *queue) advance(now time.Time) {
	for m := q.shows.first(); m != nil && !m.due[toShow].After(now); m = q.shows.first() {
		q.set(m, visible, time.Time{})
	}
	oldest := now.Add(-q.settings.seconds(retentionPeriod))
	for m := q.expires.first(); m != nil && !m.sent.After(oldest); m = q.expires.first() {
		q.remove(m)
	}
}
