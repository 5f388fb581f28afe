package sqs

import "time"

// Limits of message move tasks, as AWS sets them.
const (
	maxMoveRate = 500 // messages a second
	maxMoves    = 10  // tasks of a queue that are remembered
)

// A task without a rate moves so many messages at a time, with a pause between.
const (
	moveBatch = 500
	movePause = time.Millisecond
)

// moveStatus is how far a message move task is.
type moveStatus string

const (
	moveRunning   moveStatus = "RUNNING"
	moveCompleted moveStatus = "COMPLETED"
	moveCancelled moveStatus = "CANCELLED"
	moveFailed    moveStatus = "FAILED"
)

// move is a task that moves the messages of a dead-letter queue.
type move struct {
	id            string
	destination   string // an ARN; empty: each message to its source
	rate          int    // messages a second; 0: as fast as it goes
	started       time.Time
	total         int // messages when it started
	moved         int
	status        moveStatus
	failureReason string
}

// pace is how many messages are moved at a time, and after which time.
func (v *move) pace() (batch int, pause time.Duration) {
	if v.rate > 0 {
		return 1, time.Second / time.Duration(v.rate)
	}
	return moveBatch, movePause
}

// proceed sees to it that the next messages of the queue are moved.
func (s *Service) proceed(q *queue, v *move) {
	batch, pause := v.pace()
	s.clock.AfterFunc(pause, func() {
		s.mu.Lock()
		defer s.unlock()
		if q.gone || v.status != moveRunning {
			return
		}
		q.advance(s.clock.Now())
		for range batch {
			if !s.moveNext(q, v) {
				return
			}
		}
		s.proceed(q, v)
	})
}

// moveNext moves the first message of the queue. It tells whether there are
// more to move.
func (s *Service) moveNext(q *queue, v *move) bool {
	m := q.line.first()
	if m == nil || v.moved == v.total {
		v.status = moveCompleted
		return false
	}
	arn := v.destination
	if arn == "" {
		arn = m.source
	}
	if arn == "" {
		v.status, v.failureReason = moveFailed, "CouldNotDetermineMessageSource"
		return false
	}
	target := s.byARN(arn)
	if target == nil {
		v.status, v.failureReason = moveFailed, QueryCode(noQueue())
		return false
	}
	s.resend(q, m, target)
	if v.moved++; v.moved == v.total {
		v.status = moveCompleted
	}
	return v.status == moveRunning
}

// resend takes a message out of one queue and sends it to another, as a new
// one: with an id, an enqueue time and a receive count of its own.
func (s *Service) resend(q *queue, m *message, target *queue) {
	now := s.clock.Now()
	q.remove(m)
	s.record(Deleted, q, m, 0, "")
	fresh := &message{
		id: NewID(), body: m.body, bodyMD5: m.bodyMD5, attributes: m.attributes,
		systemAttributes: m.systemAttributes, group: m.group, dedup: m.dedup, sent: now,
	}
	if target.fifo() {
		fresh.sequence = s.nextSequence()
		target.dedup.add(target.dedupKey(fresh), fresh, now)
	}
	delay := target.settings.seconds(delaySeconds)
	target.advance(now)
	target.add(fresh, now, delay)
	s.record(Sent, target, fresh, delay, "")
	s.rouse(target)
	s.rouse(q)
}
