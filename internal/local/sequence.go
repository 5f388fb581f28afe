package local

import (
	"slices"
	"sync"
	"time"
)

// lag is how long an event waits for earlier ones. A function's log comes
// through a pipe, a moment after what it caused.
const lag = 100 * time.Millisecond

// sequence hands events on in the order of their times. It is safe for
// concurrent use.
type sequence struct {
	emit func(Event)

	mu      sync.Mutex
	waiting []Event // sorted by time
	timer   *time.Timer
}

// add takes an event, to be handed on after lag at the latest.
func (s *sequence) add(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := len(s.waiting)
	for i > 0 && s.waiting[i-1].Time.After(e.Time) {
		i--
	}
	s.waiting = slices.Insert(s.waiting, i, e)
	if s.timer == nil {
		s.timer = time.AfterFunc(lag, s.release)
	}
}

// release hands on what has waited long enough.
func (s *sequence) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = nil
	s.emitBefore(time.Now().Add(-lag))
	if len(s.waiting) > 0 {
		s.timer = time.AfterFunc(max(time.Until(s.waiting[0].Time.Add(lag)), time.Millisecond), s.release)
	}
}

func (s *sequence) emitBefore(limit time.Time) {
	n := 0
	for n < len(s.waiting) && !s.waiting[n].Time.After(limit) {
		s.emit(s.waiting[n])
		n++
	}
	s.waiting = slices.Delete(s.waiting, 0, n)
}

// flush hands on all that is left.
func (s *sequence) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	for _, e := range s.waiting {
		s.emit(e)
	}
	s.waiting = nil
}
