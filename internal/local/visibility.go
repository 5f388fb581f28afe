package local

import (
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

// visibility tracks until when a received message is hidden by the visibility
// timeout of its queue. A message whose visibility timeout was changed is not
// tracked any more: that event says itself when the message returns. The zero value
// is ready for use. It is safe for concurrent use.
type visibility struct {
	mu    sync.Mutex
	until map[place]time.Time
}

// place is a message in a queue.
type place struct{ queue, id string }

func (v *visibility) record(e sqs.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := place{e.Queue, e.MessageID}
	switch e.Kind {
	case sqs.Received:
		if v.until == nil {
			v.until = map[place]time.Time{}
		}
		v.until[at] = e.Time.Add(e.Timeout)
	case sqs.VisibilityChanged, sqs.Deleted, sqs.Redriven:
		delete(v.until, at)
	}
}

// remaining returns how long the message stays hidden after now, and 0 if it is not
// tracked.
func (v *visibility) remaining(queue, id string, now time.Time) time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return max(v.until[place{queue, id}].Sub(now), 0)
}
