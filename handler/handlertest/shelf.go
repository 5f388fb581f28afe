package handlertest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// shelf is what a queue holds.
type shelf struct {
	queue    Queue
	messages []*stored
	receipts int
}

// stored is a message in the queue, or a copy of one.
type stored struct {
	message Message
	job     *JobReport
	sent    time.Time
	// copied tells that it is a copy.
	copied bool
	// visible is when it can be received.
	visible time.Time
	// delivery is the latest, and receipt that delivery's handle.
	delivery *Delivery
	receipt  string
}

// put sends a message and its copies.
func (s *shelf) put(m Message, job *JobReport, start time.Time) {
	sent := start.Add(m.After)
	s.messages = append(s.messages, &stored{message: m, job: job, sent: sent, visible: sent})
	for _, later := range m.Copies {
		s.messages = append(s.messages, &stored{message: m, job: job, sent: sent, copied: true, visible: sent.Add(later)})
	}
	slices.SortStableFunc(s.messages, func(x, y *stored) int { return x.sent.Compare(y.sent) })
}

// receive takes the next batch; it is empty when nothing is visible.
func (s *shelf) receive(now, start time.Time) []*stored {
	s.expire(now)
	var batch []*stored
	blocked := s.inFlight(now)
	for _, m := range slices.Clone(s.messages) {
		if len(batch) == s.queue.BatchSize {
			break
		}
		if m.visible.After(now) || s.queue.fifo() && blocked[m.message.Group] {
			continue
		}
		if s.redrive(m) {
			continue
		}
		s.hand(m, now, start)
		batch = append(batch, m)
	}
	return batch
}

// takeAll receives everything, whatever its time.
func (s *shelf) takeAll(now time.Time) []*stored {
	var batch []*stored
	for _, m := range s.messages {
		if !m.copied {
			s.hand(m, now, now)
			batch = append(batch, m)
		}
	}
	return batch
}

// hand makes a delivery of the message.
func (s *shelf) hand(m *stored, now, start time.Time) {
	s.receipts++
	m.receipt = fmt.Sprintf("receipt-%s-%d", m.message.ID, s.receipts)
	m.visible = now.Add(s.queue.Visibility)
	m.job.receives = max(m.job.receives+1, m.message.Receives)
	m.delivery = &Delivery{Receive: m.job.receives, At: now.Sub(start), Delay: s.queue.Visibility, job: m.job}
	m.job.Deliveries = append(m.job.Deliveries, m.delivery)
}

// inFlight reports whether the message is hidden still, so that its receipt counts.
func (m *stored) inFlight() bool {
	m.delivery.Late = m.delivery.Late || !time.Now().Before(m.visible)
	return !m.delivery.Late
}

// redrive moves a message that has no receives left, as SQS does: with no record.
func (s *shelf) redrive(m *stored) bool {
	most := s.queue.Options.MaxReceives
	if received := max(m.job.receives, m.message.Receives-1); most <= 0 || received < most {
		return false
	}
	m.job.Redriven = true
	s.remove(m)
	return true
}

func (s *shelf) expire(now time.Time) {
	for _, m := range slices.Clone(s.messages) {
		if now.Sub(m.sent) >= s.queue.Retention {
			m.job.Expired = true
			s.remove(m)
		}
	}
}

// inFlight are the groups of which a message was received and is hidden.
func (s *shelf) inFlight(now time.Time) map[string]bool {
	groups := map[string]bool{}
	for _, m := range s.messages {
		if m.delivery != nil && m.visible.After(now) {
			groups[m.message.Group] = true
		}
	}
	return groups
}

// next is when a hidden message will be visible; false when there is none. Those
// that are visible wait for such a one of their FIFO group.
func (s *shelf) next(now time.Time) (at time.Time, ok bool) {
	for _, m := range s.messages {
		if m.visible.After(now) && (!ok || m.visible.Before(at)) {
			at, ok = m.visible, true
		}
	}
	return at, ok
}

func (s *shelf) remove(m *stored) {
	s.messages = slices.DeleteFunc(s.messages, func(other *stored) bool { return other == m })
}

// record is the latest delivery of the message as it stands in an event.
func (m *stored) record() events.SQSMessage {
	message := m.message
	message.Sent = m.sent
	if !m.message.Sent.IsZero() {
		message.Sent = m.message.Sent
	}
	r := message.Record()
	r.ReceiptHandle = m.receipt
	r.Attributes["ApproximateReceiveCount"] = strconv.Itoa(m.delivery.Receive)
	return r
}
