package local

import (
	"sync"
	"time"
)

// Summary accounts for all jobs of a run.
type Summary struct {
	Kind Kind      `json:"event"`
	Time time.Time `json:"time"`
	// Jobs is how many messages were sent to queues that are no dead-letter queues.
	Jobs int `json:"jobs"`
	// Done are the jobs that were acknowledged as done.
	Done int `json:"done"`
	// Duplicates are the messages that were recognised as copies of a settled job.
	Duplicates int `json:"duplicates"`
	// Dead counts dead letters by reason.
	Dead map[string]int `json:"dead"`
	// Attempts is how often jobs were run.
	Attempts int `json:"attempts"`
	// Crashes is how often an invocation ended with its process.
	Crashes int `json:"crashes"`
	// Lost are messages that are in no queue although nothing says that they
	// were done, recognised or dead-lettered.
	Lost int `json:"lost"`
	// Left are the messages that are still in their queue.
	Left int `json:"left"`
	// DoneKeys are the idempotency keys of the jobs that were done.
	DoneKeys []string `json:"doneKeys,omitempty"`
}

// KindSummary is the kind of the last line.
const KindSummary Kind = "summary"

// books follow each message from its sending to its end. They are safe for
// concurrent use.
type books struct {
	mu       sync.Mutex
	entries  map[string]*entry
	order    []*entry
	attempts int
	crashes  int
	strays   map[string]int // dead letters whose message is unknown
}

type entry struct {
	id      string
	outcome string
	key     string
	reason  string // of the dead letter; empty while there is none
	deleted bool
}

func newBooks() *books {
	return &books{entries: map[string]*entry{}, strays: map[string]int{}}
}

// enter books an event.
func (b *books) enter(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e.Kind {
	case KindSent:
		added := &entry{id: e.MessageID}
		b.entries[e.MessageID] = added
		b.order = append(b.order, added)
	case KindOutcome:
		if e.Attempt > 0 {
			b.attempts++
		}
		if known := b.entries[e.MessageID]; known != nil {
			known.outcome, known.key = e.Outcome, e.Key
		}
	case KindDead:
		b.bury(e)
	case KindDeleted:
		if known := b.entries[e.MessageID]; known != nil {
			known.deleted = true
		}
	case KindCrash:
		b.crashes++
	}
}

func (b *books) bury(e Event) {
	known := b.entries[e.MessageID]
	if known == nil {
		b.strays[e.Reason]++
		return
	}
	known.reason = e.Reason
	if e.Reason == ReasonRedrive {
		known.deleted = true
	}
}

// close draws the balance.
func (b *books) close(now time.Time) Summary {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := Summary{
		Kind: KindSummary, Time: now, Jobs: len(b.order),
		Dead: map[string]int{}, Attempts: b.attempts, Crashes: b.crashes,
	}
	for reason, n := range b.strays {
		s.Dead[reason] += n
	}
	for _, e := range b.order {
		e.count(&s)
	}
	return s
}

// count books one message under what became of it. A function that does not
// tell outcomes is taken at its word when it acknowledges.
func (e *entry) count(s *Summary) {
	switch {
	case e.reason != "":
		s.Dead[e.reason]++
	case !e.deleted:
		s.Left++
	case e.outcome == "done" || e.outcome == "":
		s.Done++
		if e.key != "" {
			s.DoneKeys = append(s.DoneKeys, e.key)
		}
	case e.outcome == "duplicate":
		s.Duplicates++
	default:
		s.Lost++
	}
}
