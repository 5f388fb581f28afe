package local

import (
	"slices"
	"sync"
	"time"
)

// lag is how long an event waits for earlier ones. The log of a function comes
// through a pipe, shortly after what it reports.
const lag = 100 * time.Millisecond

// pause is the least time between two releases, so that many events go out together.
const pause = 2 * time.Millisecond

// reorderBuffer emits events in the order of their times. It is safe for concurrent
// use.
type reorderBuffer struct {
	emit func(Event)
	// emitted is called after some events, when no more follow at once; nil means no
	// calls.
	emitted func()

	mu      sync.Mutex
	waiting []Event // sorted by time
	gone    int     // how many at the begin of waiting are emitted
	timer   *time.Timer
}

// add takes an event, which is emitted after lag at the latest.
func (r *reorderBuffer) add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := len(r.waiting)
	for i > r.gone && r.waiting[i-1].Time.After(e.Time) {
		i--
	}
	if len(r.waiting) == cap(r.waiting) && r.gone > 0 {
		i -= r.gone
		r.compact()
	}
	r.waiting = slices.Insert(r.waiting, i, e)
	if r.timer == nil {
		r.timer = time.AfterFunc(lag, r.release)
	}
}

// compact frees the place of what is emitted.
func (r *reorderBuffer) compact() {
	r.waiting = slices.Delete(r.waiting, 0, r.gone)
	r.gone = 0
}

// release emits the events that have waited for lag.
func (r *reorderBuffer) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = nil
	r.emitBefore(time.Now().Add(-lag))
	if len(r.waiting) > r.gone {
		r.timer = time.AfterFunc(max(time.Until(r.waiting[r.gone].Time.Add(lag)), pause), r.release)
	}
}

func (r *reorderBuffer) emitBefore(limit time.Time) {
	for r.gone < len(r.waiting) && !r.waiting[r.gone].Time.After(limit) {
		r.next()
	}
	r.done()
}

// next emits an event.
func (r *reorderBuffer) next() {
	r.emit(r.waiting[r.gone])
	r.waiting[r.gone] = Event{} // its texts are not kept
	r.gone++
}

func (r *reorderBuffer) done() {
	if r.gone == len(r.waiting) || r.gone > len(r.waiting)/2 {
		r.compact()
	}
	if r.emitted != nil {
		r.emitted()
	}
}

// flush emits all events that are left.
func (r *reorderBuffer) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	for r.gone < len(r.waiting) {
		r.next()
	}
	r.done()
}
