package sqs

import "time"

// Oldest returns when the oldest message of each queue came into it, by the queue's name.
// Queues without messages are left out. SQS itself tells the age in CloudWatch only, as
// ApproximateAgeOfOldestMessage: in a dead-letter queue it counts from the move.
func (s *Service) Oldest() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := map[string]time.Time{}
	for _, q := range s.queues {
		q.advance(s.clock.Now())
		for _, m := range q.messages {
			if at, known := oldest[q.name]; !known || m.arrived.Before(at) {
				oldest[q.name] = m.arrived
			}
		}
	}
	return oldest
}
