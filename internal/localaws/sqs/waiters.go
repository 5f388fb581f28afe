package sqs

import (
	"container/list"
	"time"
)

// waiter is a long poll that waits for a message.
type waiter struct {
	wake  chan struct{} // has one place, for one wake-up at a time
	place *list.Element // among the waiters; nil: woken
}

// waiters are the long polls of a queue, the longest waiting first.
type waiters struct{ list list.List }

func (w *waiters) add() *waiter {
	n := &waiter{wake: make(chan struct{}, 1)}
	n.place = w.list.PushBack(n)
	return n
}

// again puts a waiter that was woken for nothing back to its place.
func (w *waiters) again(n *waiter) {
	if n.place == nil {
		n.place = w.list.PushFront(n)
	}
}

func (w *waiters) remove(n *waiter) {
	if n.place != nil {
		w.list.Remove(n.place)
		n.place = nil
	}
}

// next wakes the first waiter and tells whether there was one.
func (w *waiters) next() bool {
	first := w.list.Front()
	if first == nil {
		return false
	}
	n := first.Value.(*waiter)
	w.remove(n)
	// Room is left by a waiter that comes back without having looked.
	select {
	case n.wake <- struct{}{}:
	default:
	}
	return true
}

// alarm is the timer for the next message that becomes visible by itself.
type alarm struct {
	at   time.Time // zero: not set
	stop func() bool
}

// rouse wakes a long poll if there is a message for it, else it sees to it that
// the long polls are woken when there is one.
func (s *Service) rouse(q *queue) {
	if q.ready() && q.waiters.next() {
		return
	}
	var at time.Time
	if m := q.shows.first(); m != nil && q.waiters.list.Len() > 0 {
		at = m.due[toShow]
	}
	if at.Equal(q.alarm.at) {
		return
	}
	if q.alarm.stop != nil {
		q.alarm.stop()
	}
	q.alarm = alarm{at: at}
	if at.IsZero() {
		return
	}
	q.alarm.stop = s.clock.AfterFunc(at.Sub(s.clock.Now()), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if q.alarm.at.Equal(at) {
			q.alarm = alarm{}
		}
		q.advance(s.clock.Now())
		s.rouse(q)
	})
}
