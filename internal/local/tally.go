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
	// letters holds the names of the dead-letter queues that a function reads.
	letters map[string]bool

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
	outcome string // as the function has reported it
	key     string
	reason  string // of the dead letter; empty while there is none
	deleted bool
	// letter means that the queue is a dead-letter queue, which a function reads.
	letter bool
	// named means that the function's last answer names the message as failed.
	named bool
	// crashed means that a process that had the message ended, perhaps after the
	// job was done and before its line was written.
	crashed bool
	// received is the receive that handed the message out last, to whoever it was;
	// invoked is the last one of the stack's own functions. elsewhere means that
	// somebody else acknowledged it.
	received, invoked int
	elsewhere         bool
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
		t.met(e)
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
	letter := t.letters[e.Queue]
	if letter {
		t.totals.Letters++
	} else {
		t.totals.Jobs++
	}
	t.messages[e.MessageID] = &message{queue: e.Queue, letter: letter}
}

// met takes the messages of another engine's queues, which are known only when a
// function gets them. One that comes from another queue than before was moved
// there by SQS.
func (t *tally) met(e Event) {
	if !t.foreign {
		return
	}
	known := t.messages[e.MessageID]
	if known != nil && known.queue != e.Queue {
		known.deleted, known.reason = true, cmp.Or(known.reason, ReasonRedrive)
		t.count(known, &t.totals)
		known = nil
	}
	if known == nil {
		t.open(e)
	}
}

// letter takes a message that came into a dead-letter queue which a function reads.
func (t *tally) letter(queue, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.letters[queue] {
		t.open(Event{Queue: queue, MessageID: id})
	}
}

// received notes that a message was handed out, by its queue, to anybody.
func (t *tally) received(id string, count int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.messages[id]; known != nil {
		known.received = count
	}
}

func (m *message) apply(in Event) {
	switch in.Kind {
	case KindInvoked:
		m.invoked, m.named = in.ReceiveCount, false
	case KindNamed, KindIgnored:
		m.named = true
	case KindOutcome:
		if m.outcome != outcomeDone { // a job that is done stays so at a redelivery
			m.outcome, m.key = in.Outcome, in.Key
		}
	case KindFiltered:
		m.invoked, m.outcome = in.ReceiveCount, string(KindFiltered)
	case KindDead:
		m.reason = in.Reason
		m.deleted = m.deleted || in.Reason == ReasonRedrive
	case KindDeleted:
		m.deleted, m.elsewhere = true, m.received > m.invoked
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

// unsettled returns the keys of the messages by queue about which the ledger knows more
// than the stack has seen: somebody else had them last.
func (t *tally) unsettled(empty map[string]bool) map[string][]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	keys := map[string][]string{}
	for _, m := range t.messages {
		if m.key != "" && (m.elsewhere || !m.deleted && empty[m.queue]) {
			keys[m.queue] = append(keys[m.queue], m.key)
		}
	}
	return keys
}

// verdict is what the ledger says of a job.
type verdict struct {
	done bool
	dead string // the reason of its death; empty if it is not dead
}

// apply settles a message that somebody else had last.
func (v verdict) apply(m *message) {
	switch {
	case v.done:
		m.outcome, m.deleted = outcomeDone, true
	case v.dead != "":
		m.reason, m.deleted = cmp.Or(m.reason, v.dead), true
	}
}

// summary returns the totals at the end of a run. For queues of another endpoint,
// empty says which of them hold no message: a message that was not seen to be
// deleted is gone from those all the same. verdicts are those of the ledger, by queue
// and key.
func (t *tally) summary(now time.Time, empty map[string]bool, verdicts map[place]verdict) Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.totals
	s.Kind, s.Time, s.Dead = KindSummary, now, maps.Clone(s.Dead)
	for _, m := range t.messages {
		if m.elsewhere || !m.deleted && empty[m.queue] {
			verdicts[place{m.queue, m.key}].apply(m)
		}
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
// acknowledgement means done, unless its answer names the message as failed. So does
// the acknowledgement of another consumer, unless the ledger says otherwise.
func (t *tally) count(m *message, s *Summary) {
	switch {
	case m.reason != "":
		s.Dead[m.reason]++
	case !m.deleted:
		s.Left++
	case m.outcome == outcomeDuplicate && m.crashed && !m.letter:
		t.doubtful = append(t.doubtful, m.key)
	case m.outcome == outcomeDuplicate && !m.letter:
		s.Duplicates++
	case m.outcome == string(KindFiltered) && !m.letter:
		s.Filtered++
	case m.settled():
		t.acknowledge(m, s)
	default:
		s.Lost++
		if why := t.unreported[m.queue]; why != "" {
			s.LostBecause = why + ": messages that its answer names as failed are deleted"
		}
	}
}

// settled reports whether a message that is gone was acknowledged rightly.
func (m *message) settled() bool {
	switch m.outcome {
	case outcomeDone, outcomeDuplicate, string(KindFiltered):
		return true
	case "":
		return m.elsewhere || !m.named
	}
	return m.elsewhere
}

func (t *tally) acknowledge(m *message, s *Summary) {
	if m.letter {
		s.LettersDone++
		return
	}
	s.Done++
	t.finish(m.key)
}

// finish marks a key as done and reports whether it was new.
func (t *tally) finish(key string) bool {
	hash := maphash.String(t.seed, key)
	before := t.done[hash]
	t.done[hash] = key != ""
	return !before
}
