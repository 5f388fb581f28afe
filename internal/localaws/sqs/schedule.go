package sqs

import (
	"container/heap"
	"time"
)

// The schedules of a queue, by what happens when a message is due.
const (
	toShow    = iota // delayed and in-flight messages, by the time at which they become visible
	toExpire         // all messages, by the time at which they were sent
	schedules        // the number of schedules
)

// schedule is a heap of messages, ordered by the time at which they are due.
type schedule struct {
	which int
	items []*message
}

// put adds a message, or changes when it is due.
func (s *schedule) put(m *message, due time.Time) {
	m.due[s.which] = due
	if i := m.index[s.which]; i > 0 {
		heap.Fix(s, i-1)
		return
	}
	heap.Push(s, m)
}

// remove removes a message, if it is there.
func (s *schedule) remove(m *message) {
	if i := m.index[s.which]; i > 0 {
		heap.Remove(s, i-1)
	}
}

// first returns the message that is due first, or nil.
func (s *schedule) first() *message {
	if len(s.items) == 0 {
		return nil
	}
	return s.items[0]
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (s *schedule) Len() int { return len(s.items) }

func (s *schedule) Less(i, j int) bool {
	a, b := s.items[i], s.items[j]
	return a.due[s.which].Before(b.due[s.which])
}

func (s *schedule) Swap(i, j int) {
	s.items[i], s.items[j] = s.items[j], s.items[i]
	s.items[i].index[s.which], s.items[j].index[s.which] = i+1, j+1
}

func (s *schedule) Push(x any) {
	m := x.(*message)
	s.items = append(s.items, m)
	m.index[s.which] = len(s.items)
}

func (s *schedule) Pop() any {
	last := len(s.items) - 1
	m := s.items[last]
	s.items[last] = nil
	s.items = s.items[:last]
	m.index[s.which] = 0
	return m
}
