package local

import (
	"slices"
	"sync"
	"time"
)

// lag is how long an event waits for earlier ones. The log of a function comes
// through a pipe, shortly after what it reports.
const lag = 100 * time.Millisecond

// reorderBuffer emits events in the order of their times. It is safe for concurrent
// use.
type reorderBuffer struct {
	emit func(Event)

	mu      sync.Mutex
	waiting []Event // sorted by time
	timer   *time.Timer
}

// add takes an event, which is emitted after lag at the latest.
func (r *reorderBuffer) add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := len(r.waiting)
	for i > 0 && r.waiting[i-1].Time.After(e.Time) {
		i--
	}
	r.waiting = slices.Insert(r.waiting, i, e)
	if r.timer == nil {
		r.timer = time.AfterFunc(lag, r.release)
	}
}

// release emits the events that have waited for lag.
func (r *reorderBuffer) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = nil
	r.emitBefore(time.Now().Add(-lag))
	if len(r.waiting) > 0 {
		r.timer = time.AfterFunc(max(time.Until(r.waiting[0].Time.Add(lag)), time.Millisecond), r.release)
	}
}

func (r *reorderBuffer) emitBefore(limit time.Time) {
	n := 0
	for n < len(r.waiting) && !r.waiting[n].Time.After(limit) {
		r.emit(r.waiting[n])
		n++
	}
	r.waiting = slices.Delete(r.waiting, 0, n)
}

// flush emits all events that are left.
func (r *reorderBuffer) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	for _, e := range r.waiting {
		r.emit(e)
	}
	r.waiting = nil
}
