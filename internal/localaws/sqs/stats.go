package sqs

import (
	"context"
	"slices"
	"strings"
)

// QueueStats describes the messages of a queue at one moment.
type QueueStats struct {
	Name, ARN string
	FIFO      bool
	// Visible, NotVisible and Delayed count messages. NotVisible messages are
	// in flight.
	Visible, NotVisible, Delayed int
	// RedriveTarget is the ARN of the dead-letter queue; empty means none.
	RedriveTarget string
	// MaxReceiveCount is that of the redrive policy; 0 means none.
	MaxReceiveCount int
	// DeadLetter says that the queue is the dead-letter queue of another.
	DeadLetter bool
}

// Stats returns the counts of all queues, sorted by name.
func (s *Service) Stats() []QueueStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats()
}

func (s *Service) stats() []QueueStats {
	targets := map[string]bool{}
	for _, q := range s.queues {
		if q.settings.redrive != nil {
			targets[q.settings.redrive.TargetARN] = true
		}
	}
	var all []QueueStats
	for _, q := range s.queues {
		q.advance(s.clock.Now())
		st := QueueStats{
			Name: q.name, ARN: q.arn, FIFO: q.fifo(), DeadLetter: targets[q.arn],
			Visible: q.counts[visible], NotVisible: q.counts[inFlight], Delayed: q.counts[delayed],
		}
		if r := q.settings.redrive; r != nil {
			st.RedriveTarget, st.MaxReceiveCount = r.TargetARN, int(r.MaxReceiveCount)
		}
		all = append(all, st)
	}
	slices.SortFunc(all, func(a, b QueueStats) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Idle waits until no queue other than dead-letter queues has a message,
// visible, delayed or in flight. It returns nil, or the error of ctx. Messages
// that leave a queue at the end of the retention period do not end the wait.
func (s *Service) Idle(ctx context.Context) error {
	for {
		s.mu.Lock()
		busy := slices.ContainsFunc(s.stats(), func(q QueueStats) bool {
			return !q.DeadLetter && q.Visible+q.NotVisible+q.Delayed > 0
		})
		if !busy {
			s.mu.Unlock()
			return nil
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
