package sqs

import "time"

// Kind says what happened to a message.
type Kind string

// The kinds of events.
const (
	// Sent: the message was sent to the queue.
	Sent Kind = "sent"
	// Received: the message is in flight; Timeout is its visibility timeout.
	Received Kind = "received"
	// VisibilityChanged: the message becomes visible after Timeout, counted
	// from now.
	VisibilityChanged Kind = "visibility"
	// Deleted: the message was deleted.
	Deleted Kind = "deleted"
	// Redriven: the message was moved to the dead-letter queue To.
	Redriven Kind = "redriven"
)

// Event describes something that happened to a message.
type Event struct {
	Time time.Time
	Kind Kind
	// Queue is the name of the message's queue.
	Queue string
	// To is the name of the dead-letter queue, for Redriven.
	To           string
	MessageID    string
	GroupID      string
	ReceiveCount int
	// Timeout is the visibility timeout for Received and VisibilityChanged, and
	// the delay for Sent; 0 means visible at once.
	Timeout time.Duration
	// Body and MessageAttributes are set for Sent and Redriven. They must not
	// be changed.
	Body              string
	MessageAttributes map[string]Attribute
}

// record stores an event, to be reported when the lock is released.
func (s *Service) record(kind Kind, q *queue, m *message, timeout time.Duration, to string) {
	if s.observe == nil {
		return
	}
	e := Event{
		Time: s.clock.Now(), Kind: kind, Queue: q.name, To: to, MessageID: m.id, GroupID: m.group,
		ReceiveCount: m.receives, Timeout: timeout,
	}
	if kind == Sent || kind == Redriven {
		e.Body, e.MessageAttributes = m.body, m.attributes
	}
	s.events = append(s.events, e)
}

// unlock releases the lock and reports the recorded events.
func (s *Service) unlock() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
	some := len(s.events) > 0
	s.mu.Unlock()
	if some {
		s.report()
	}
}

func (s *Service) report() {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.mu.Lock()
	events := s.events
	s.events = nil
	s.mu.Unlock()
	for _, e := range events {
		s.observe(e)
	}
}
