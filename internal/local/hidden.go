package local

import (
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

// hidden follows which messages the queues' own visibility timeouts hide: those
// of a batch of which nobody has said yet when they come back. The zero value is
// ready for use, and it is safe for concurrent use.
type hidden struct {
	mu    sync.Mutex
	until map[place]time.Time
}

// place is a message in a queue.
type place struct{ queue, id string }

func (h *hidden) enter(e sqs.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := place{e.Queue, e.MessageID}
	switch e.Kind {
	case sqs.Received:
		if h.until == nil {
			h.until = map[place]time.Time{}
		}
		h.until[at] = e.Time.Add(e.Timeout)
	case sqs.VisibilityChanged, sqs.Deleted, sqs.Redriven:
		delete(h.until, at)
	}
}

// left is how long the message stays hidden after now; 0 if it is not hidden so.
func (h *hidden) left(queue, id string, now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(h.until[place{queue, id}].Sub(now), 0)
}
