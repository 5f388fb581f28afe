package simulation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// send puts a message into the queue.
func (w *world) send(body string, replay *handler.Replay) {
	w.sent++
	m := &message{id: fmt.Sprintf("m%d", w.sent), body: body, sentAt: time.Now(), replay: replay}
	w.locked(func() { w.messages = append(w.messages, m) })
	w.tell("%s is sent: %s, replay %+v", m.id, body, replay)
}

func (w *world) delete(m *message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var kept []*message
	for _, other := range w.messages {
		if other != m {
			kept = append(kept, other)
		}
	}
	w.messages = kept
}

// interfere lets producer or operator send something.
func (w *world) interfere() {
	body := "a"
	if w.rng.IntN(5) == 0 {
		body = "b"
	}
	if len(w.letters) == 0 || w.rng.IntN(2) == 0 {
		w.send(body, nil)
		return
	}
	l := &w.letters[w.rng.IntN(len(w.letters))]
	if body == "a" {
		body = l.body
	}
	w.send(body, &l.record)
}

// began is called where the user's function is.
func (w *world) began(p *worker, run *run) {
	w.tell("%s runs the job", p)
	if !p.clock().Before(run.lease.Add(-margin)) {
		w.breach("a run begins within its claim", "%s begins %v after its lease", p, p.clock().Sub(run.lease))
	}
	if w.owner == run.owner && !w.closedRun {
		w.counted(p)
	}
	if w.strict && (w.owner != run.owner || w.status != idem.StatusInProgress) {
		w.breach("one owner at a time", "%s runs as %s, the book has %q of %s",
			p, w.alias(run.owner), w.status, w.alias(w.owner))
	}
}

// counted asks of a run that may end its process whether that is counted.
func (w *world) counted(p *worker) {
	switch {
	case w.crashesBefore >= crashLimit:
		w.breach("a crash loop ends", "%s runs after %d crashes", p, w.crashesBefore)
	case w.suspect && w.crashes != w.crashesBefore+1:
		w.breach("the crash of a suspect is counted before its run", "%s runs with %d crashes, claimed with %d",
			p, w.crashes, w.crashesBefore)
	}
}

// took is called where the job has its effect. A function whose context is alive
// is the only one.
func (w *world) took(ctx context.Context, p *worker, run *run) {
	w.tell("%s: the job takes effect", p)
	if w.strict && ctx.Err() == nil {
		if w.owner != run.owner || w.status != idem.StatusInProgress {
			w.breach("one owner at a time", "%s has its effect as %s, the book has %q of %s",
				p, w.alias(run.owner), w.status, w.alias(w.owner))
		}
		w.repeats(p)
	}
	w.effects = append(w.effects, run)
}

// repeats asks after each earlier effect of the epoch how it came that the job
// runs again.
func (w *world) repeats(p *worker) {
	if w.stepped {
		w.breach("a step is done once", "%s does it again", p)
	}
	for _, earlier := range w.effects {
		if !earlier.failed && w.careful {
			w.breach("no second effect where a person is to look", "%s has it after %s", p, w.alias(earlier.owner))
		}
		if earlier.completed {
			w.breach("no second effect after completion", "%s has it after %s", p, w.alias(earlier.owner))
		}
	}
}

// post puts a letter into the dead-letter queue and gives its id there.
func (w *world) post(p *worker, l *handler.Letter) string {
	id := fmt.Sprintf("letter-%d", len(w.letters)+1)
	m, f := l.Message, &l.Failure
	record := handler.Replay{MessageID: m.MessageId, Key: f.Key, Epoch: f.Epoch, Verdict: f.Verdict}
	w.tell("%s sends %s: %+v, %s", p, id, record, f.Reason)
	w.letters = append(w.letters, letter{messageID: m.MessageId, body: m.Body, record: record})
	if !record.Verdict {
		return id
	}
	if w.strict && w.epoch == record.Epoch {
		if w.owner != p.run.owner || w.status != idem.StatusDead {
			w.breach("one sender at a time", "%s sends as %s, the book has %q of %s",
				p, w.alias(p.run.owner), w.status, w.alias(w.owner))
		}
		if w.confirmed != "" {
			w.breach("a death has one confirmed letter", "%s although %s is confirmed", id, w.confirmed)
		}
	}
	if w.letterSent == nil {
		w.letterSent = map[int]string{}
	}
	w.letterSent[record.Epoch] = id
	return id
}

// finished holds the end of the history against what was promised.
func (w *world) finished() {
	switch w.status {
	case "", idem.StatusCompleted:
	case idem.StatusDead:
		if w.letterSent[w.epoch] == "" && w.confirmed != idem.DroppedLetter && !w.answeredElsewhere() {
			w.breach("a dead job has its letter", "epoch %d has none", w.epoch)
		}
	default:
		if !w.answeredElsewhere() {
			w.breach("a job comes to its end", "it is %s, and no message is left", w.status)
		}
	}
}

// answeredElsewhere tells whether a job may stay open, because another delivery
// of its last message was answered: by the job's completion, which has expired
// since, or by a letter about a conflict with another payload.
func (w *world) answeredElsewhere() bool {
	return w.lives > 1 || slices.ContainsFunc(w.letters, func(l letter) bool { return l.messageID == w.messageID })
}
