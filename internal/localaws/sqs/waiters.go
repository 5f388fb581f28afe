package sqs

import (
	"container/list"
	"time"
)

// waiter is a long poll that waits for a message.
type waiter struct {
	wake  chan struct{} // buffered, for one wake-up at a time
	place *list.Element // its element among the waiters; nil after it was woken
}

// waiters are the waiting long polls of a queue, the longest waiting first.
type waiters struct{ list list.List }

func (w *waiters) add() *waiter {
	n := &waiter{wake: make(chan struct{}, 1)}
	n.place = w.list.PushBack(n)
	return n
}

// again returns a waiter that was woken without a message to its place at the
// front.
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

// next wakes the first waiter and reports whether there was one.
func (w *waiters) next() bool {
	first := w.list.Front()
	if first == nil {
		return false
	}
	n := first.Value.(*waiter)
	w.remove(n)
	// The channel is full if an earlier wake-up was not yet received.
	select {
	case n.wake <- struct{}{}:
	default:
	}
	return true
}

// alarm is the timer for the next message that becomes visible when its time
// has come.
type alarm struct {
	at   time.Time // zero: not set
	stop func() bool
}

// wakeOrSchedule wakes a long poll if there is a message for it. Otherwise it sets a
// timer for the next message that becomes visible.
func (s *Service) wakeOrSchedule(q *queue) {
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
		s.wakeOrSchedule(q)
	})
}
