package local

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

// agesPath is where a local stack tells what SQS itself has in CloudWatch only.
const agesPath = "/_sqsafe/ages"

// Age tells since when the oldest message of a queue is there.
type Age struct {
	// Messages is how many messages this was found among. Where the queue holds
	// another number, some have left it unseen, and Oldest may be one of them.
	Messages int `json:"messages"`
	// Oldest is when the oldest message came into the queue.
	Oldest time.Time `json:"oldest"`
}

// Ages asks the local stack at endpoint for the queues that hold messages, by
// name. Another engine answers with an error.
func Ages(ctx context.Context, endpoint string) (map[string]Age, error) {
	ages := map[string]Age{}
	return ages, ask(ctx, endpoint, agesPath, &ages)
}

// ages follows which messages are in which queue. It is safe for concurrent use.
type ages struct {
	mu     sync.Mutex
	queues map[string]map[string]time.Time // when a message came, by queue and id
}

func (a *ages) record(e sqs.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch e.Kind {
	case sqs.Sent:
		a.add(e.Queue, e)
	case sqs.Deleted:
		delete(a.queues[e.Queue], e.MessageID)
	case sqs.Redriven:
		delete(a.queues[e.Queue], e.MessageID)
		a.add(e.To, e) // in a dead-letter queue the time starts anew, as in CloudWatch
	}
}

func (a *ages) add(queue string, e sqs.Event) {
	if a.queues == nil {
		a.queues = map[string]map[string]time.Time{}
	}
	if a.queues[queue] == nil {
		a.queues[queue] = map[string]time.Time{}
	}
	a.queues[queue][e.MessageID] = e.Time
}

// count is how many of the messages are in the queue.
func (a *ages) count(queue string, ids []string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		if _, in := a.queues[queue][id]; in {
			n++
		}
	}
	return n
}

// ServeHTTP answers what [Ages] asks.
func (a *ages) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a.all()) // whoever asked has gone
}

func (a *ages) all() map[string]Age {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := map[string]Age{}
	for queue, messages := range a.queues {
		age := Age{Messages: len(messages)}
		for _, at := range messages {
			if age.Oldest.IsZero() || at.Before(age.Oldest) {
				age.Oldest = at
			}
		}
		if age.Messages > 0 {
			all[queue] = age
		}
	}
	return all
}
