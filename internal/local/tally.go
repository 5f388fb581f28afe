package local

import (
	"cmp"
	"hash/maphash"
	"maps"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// tally counts what became of each message, from its send to its end. It is safe
// for concurrent use.
type tally struct {
	// foreign means that the queues do not report what is sent to them. A job is
	// then unknown until a function receives it.
	foreign bool
	// redrive holds the names of the queues that have a dead-letter queue.
	redrive map[string]bool
	// unreported says, by the name of a queue, why failures are not reported to it.
	unreported map[string]string

	mu     sync.Mutex
	totals Summary
	seed   maphash.Seed
	done   map[uint64]bool // hashes of the keys of jobs that are done
	// doubtful holds the keys of messages whose process crashed and whose job was
	// found done afterwards. The message itself or a copy may have done it.
	doubtful []string
	messages map[string]*message // those whose end is not known yet, by id
}

var (
	outcomeDone      = handler.OutcomeDone.String()
	outcomeDuplicate = handler.OutcomeDuplicate.String()
)

// message is what is known of one message.
type message struct {
	queue   string
	outcome string
	key     string
	reason  string // of the dead letter; empty while there is none
	deleted bool
	// crashed means that a process that had the message ended, perhaps after the
	// job was done and before its log line was written.
	crashed bool
}

func newTally() *tally {
	return &tally{
		messages: map[string]*message{}, totals: Summary{Dead: map[string]int{}},
		seed: maphash.MakeSeed(), done: map[uint64]bool{},
	}
}

// record counts one event.
func (t *tally) record(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Kind {
	case KindCrash:
		t.totals.Crashes++
		for _, id := range e.MessageIDs {
			if known := t.messages[id]; known != nil {
				known.crashed = true
			}
		}
	case KindSent:
		t.open(e)
	case KindInvoked, KindFiltered:
		if t.foreign && t.messages[e.MessageID] == nil {
			t.open(e)
		}
	case KindOutcome:
		t.outcome(e)
	case KindDead:
		if t.messages[e.MessageID] == nil {
			t.totals.Dead[e.Reason]++
		}
	}
	if known := t.messages[e.MessageID]; known != nil {
		known.apply(e)
		if known.finished() {
			t.count(known, &t.totals)
			delete(t.messages, e.MessageID)
		}
	}
}

func (t *tally) outcome(e Event) {
	if e.Attempt > 0 {
		t.totals.Attempts++
	}
	switch e.Reason {
	case fault.ReasonStore:
		t.totals.StoreDown++
	case idem.ReasonUnprotected:
		t.totals.Unprotected++
	}
}

func (t *tally) open(e Event) {
	t.totals.Jobs++
	t.messages[e.MessageID] = &message{queue: e.Queue}
}

func (m *message) apply(in Event) {
	switch in.Kind {
	case KindOutcome:
		if m.outcome != outcomeDone { // a job that is done stays so at a redelivery
			m.outcome, m.key = in.Outcome, in.Key
		}
	case KindFiltered:
		m.outcome = string(KindFiltered)
	case KindDead:
		m.reason = in.Reason
		m.deleted = m.deleted || in.Reason == ReasonRedrive
	case KindDeleted:
		m.deleted = true
	}
}

// finished reports whether no further event can change how the message counts. The
// outcome may come after the delete, since it is read from the log of the function.
func (m *message) finished() bool {
	switch m.outcome {
	case outcomeDone, outcomeDuplicate, string(KindFiltered):
		return m.deleted
	}
	return m.deleted && m.reason != ""
}

// summary returns the totals at the end of a run. For queues of another endpoint,
// empty says which of them hold no message: a message that was not seen to be
// deleted is gone from those all the same.
func (t *tally) summary(now time.Time, empty map[string]bool) Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.totals
	s.Kind, s.Time, s.Dead = KindSummary, now, maps.Clone(s.Dead)
	for _, m := range t.messages {
		if !m.deleted && empty[m.queue] {
			m.deleted, m.outcome = true, "gone"
			if t.redrive[m.queue] {
				m.reason = cmp.Or(m.reason, ReasonRedrive)
			}
		}
		t.count(m, &s)
	}
	for _, key := range t.doubtful {
		if t.finish(key) {
			s.Done++
		} else {
			s.Duplicates++
		}
	}
	t.doubtful = nil
	return s
}

// count adds one message to the totals. Where a function reports no outcome, its
// acknowledgement means done.
func (t *tally) count(m *message, s *Summary) {
	switch {
	case m.reason != "":
		s.Dead[m.reason]++
	case !m.deleted:
		s.Left++
	case m.outcome == outcomeDone || m.outcome == "":
		s.Done++
		t.finish(m.key)
	case m.outcome == outcomeDuplicate && m.crashed:
		t.doubtful = append(t.doubtful, m.key)
	case m.outcome == outcomeDuplicate:
		s.Duplicates++
	case m.outcome == string(KindFiltered):
		s.Filtered++
	default:
		s.Lost++
		s.LostBecause = cmp.Or(t.unreported[m.queue], s.LostBecause)
	}
}

// finish marks a key as done and reports whether it was new.
func (t *tally) finish(key string) bool {
	hash := maphash.String(t.seed, key)
	before := t.done[hash]
	t.done[hash] = key != ""
	return !before
}
