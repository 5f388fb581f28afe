package local

import (
	"sync"

	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

// present follows which messages are in which queue. The zero value is ready for use. It is
// safe for concurrent use.
type present struct {
	mu       sync.Mutex
	messages map[place]bool
}

func (p *present) record(e sqs.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.messages == nil {
		p.messages = map[place]bool{}
	}
	switch e.Kind {
	case sqs.Sent:
		p.messages[place{e.Queue, e.MessageID}] = true
	case sqs.Deleted:
		delete(p.messages, place{e.Queue, e.MessageID})
	case sqs.Redriven:
		delete(p.messages, place{e.Queue, e.MessageID})
		p.messages[place{e.To, e.MessageID}] = true
	}
}

// count is how many of the messages are in the queue.
func (p *present) count(queue string, ids []string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		if p.messages[place{queue, id}] {
			n++
		}
	}
	return n
}
