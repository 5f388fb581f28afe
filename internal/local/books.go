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

// books follow each message from its sending to its end. They are safe for
// concurrent use.
type books struct {
	// foreign: queues do not tell what is sent to them, so that a job may be
	// unknown until a function gets it.
	foreign bool
	// redrive has the names of the queues with a dead-letter queue.
	redrive map[string]bool
	// unreported has, by the queue's name, why failures are not reported to it.
	unreported map[string]string

	mu     sync.Mutex
	totals Summary
	seed   maphash.Seed
	done   map[uint64]bool // hashes of the keys of jobs that are done
	// doubtful are the keys of messages whose process ended and whose job was
	// found done afterwards: by this message, or by a copy.
	doubtful []string
	entries  map[string]*entry // of messages whose end is not known, by id
}

var (
	outcomeDone      = handler.OutcomeDone.String()
	outcomeDuplicate = handler.OutcomeDuplicate.String()
)

// entry is what is known of a message.
type entry struct {
	queue   string
	outcome string
	key     string
	reason  string // of the dead letter; empty while there is none
	deleted bool
	// crashed: a process ended that had the message, maybe after it was done and
	// before the log could tell.
	crashed bool
}

func newBooks() *books {
	return &books{
		entries: map[string]*entry{}, totals: Summary{Dead: map[string]int{}},
		seed: maphash.MakeSeed(), done: map[uint64]bool{},
	}
}

// enter books an event.
func (b *books) enter(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e.Kind {
	case KindCrash:
		b.totals.Crashes++
		for _, id := range e.MessageIDs {
			if known := b.entries[id]; known != nil {
				known.crashed = true
			}
		}
	case KindSent:
		b.open(e)
	case KindInvoked, KindFiltered:
		if b.foreign && b.entries[e.MessageID] == nil {
			b.open(e)
		}
	case KindOutcome:
		b.outcome(e)
	case KindDead:
		if b.entries[e.MessageID] == nil {
			b.totals.Dead[e.Reason]++
		}
	}
	if known := b.entries[e.MessageID]; known != nil {
		known.note(e)
		if known.over() {
			b.count(known, &b.totals)
			delete(b.entries, e.MessageID)
		}
	}
}

func (b *books) outcome(e Event) {
	if e.Attempt > 0 {
		b.totals.Attempts++
	}
	switch e.Reason {
	case fault.ReasonStore:
		b.totals.StoreDown++
	case idem.ReasonUnprotected:
		b.totals.Unprotected++
	}
}

func (b *books) open(e Event) {
	b.totals.Jobs++
	b.entries[e.MessageID] = &entry{queue: e.Queue}
}

func (e *entry) note(in Event) {
	switch in.Kind {
	case KindOutcome:
		if e.outcome != outcomeDone { // a job that is done stays so at a redelivery
			e.outcome, e.key = in.Outcome, in.Key
		}
	case KindFiltered:
		e.outcome = string(KindFiltered)
	case KindDead:
		e.reason = in.Reason
		e.deleted = e.deleted || in.Reason == ReasonRedrive
	case KindDeleted:
		e.deleted = true
	}
}

// over tells that nothing more can change the end of the message. The outcome
// may come after the delete, through the function's log.
func (e *entry) over() bool {
	switch e.outcome {
	case outcomeDone, outcomeDuplicate, string(KindFiltered):
		return e.deleted
	}
	return e.deleted && e.reason != ""
}

// close draws the balance. Of another engine's queues, empty tells which ones
// hold nothing: what was not deleted there is gone all the same.
func (b *books) close(now time.Time, empty map[string]bool) Summary {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.totals
	s.Kind, s.Time, s.Dead = KindSummary, now, maps.Clone(s.Dead)
	for _, e := range b.entries {
		if !e.deleted && empty[e.queue] {
			e.deleted, e.outcome = true, "gone"
			if b.redrive[e.queue] {
				e.reason = cmp.Or(e.reason, ReasonRedrive)
			}
		}
		b.count(e, &s)
	}
	for _, key := range b.doubtful {
		if b.finish(key) {
			s.Done++
		} else {
			s.Duplicates++
		}
	}
	b.doubtful = nil
	return s
}

// count books one message under what became of it. A function that does not
// tell outcomes is taken at its word when it acknowledges.
func (b *books) count(e *entry, s *Summary) {
	switch {
	case e.reason != "":
		s.Dead[e.reason]++
	case !e.deleted:
		s.Left++
	case e.outcome == outcomeDone || e.outcome == "":
		s.Done++
		b.finish(e.key)
	case e.outcome == outcomeDuplicate && e.crashed:
		b.doubtful = append(b.doubtful, e.key)
	case e.outcome == outcomeDuplicate:
		s.Duplicates++
	case e.outcome == string(KindFiltered):
		s.Filtered++
	default:
		s.Lost++
		s.LostBecause = cmp.Or(b.unreported[e.queue], s.LostBecause)
	}
}

// finish notes a key as done and tells whether it was not before.
func (b *books) finish(key string) bool {
	hash := maphash.String(b.seed, key)
	before := b.done[hash]
	b.done[hash] = key != ""
	return !before
}
