package sqs

import "time"

// Limits of message move tasks (AWS limits).
const (
	maxMoveRate = 500 // messages per second
	maxMoves    = 10  // tasks per queue that are remembered
)

// A task without a rate moves moveBatch messages at a time, and then pauses.
const (
	moveBatch = 500
	movePause = time.Millisecond
)

// moveStatus is the status of a message move task.
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
	destination   string // an ARN; empty means that each message goes to its source
	rate          int    // messages per second; 0 means no limit
	started       time.Time
	total         int // number of messages at the start
	moved         int
	status        moveStatus
	failureReason string
}

// pace returns how many messages are moved at a time, and the pause before
// them.
func (v *move) pace() (batch int, pause time.Duration) {
	if v.rate > 0 {
		return 1, time.Second / time.Duration(v.rate)
	}
	return moveBatch, movePause
}

// proceed schedules the move of the next messages.
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

// moveNext moves the first message of the queue. It reports whether there are
// more to move.
func (s *Service) moveNext(q *queue, v *move) bool {
	m := q.order.first()
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

// resend removes a message from one queue and sends it to another as a new
// message, with a new id, enqueue time and receive count.
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
	s.wakeOrSchedule(target)
	s.wakeOrSchedule(q)
}
