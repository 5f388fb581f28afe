package system

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	queues "github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

// judge knows what has happened, and says which promise is broken. The lock of the
// world guards it.
type judge struct {
	w        *world
	messages map[string]*message // of the source queue, by id
	order    []*message
	letters  []*letter
	jobs     map[string]*jobState
}

// message is a message that was sent to the source queue.
type message struct {
	id, name string
	body     string
	attrs    map[string]queues.Attribute
	receives int
	// gone is how it left the queue: "deleted" or "moved"; empty while it is there.
	gone string
}

// letter is a message in the dead-letter queue.
type letter struct {
	id, name string
	// moved reports whether SQS has moved it there.
	moved  bool
	body   string
	attrs  map[string]queues.Attribute
	record *dlq.Record
}

// jobState is what is known of a job.
type jobState struct {
	runs []*jobRun
	// paid is how often the provider did it.
	paid int
	// completed, dead and confirmed are what the ledger holds.
	completed, dead, confirmed bool
	letters                    int
}

// jobRun is one run of a job.
type jobRun struct {
	number  int
	process *process
	ctx     context.Context
	start   time.Duration
	ended   bool
	name    string
	job     *job
}

func newJudge(w *world) *judge {
	return &judge{w: w, messages: map[string]*message{}, jobs: map[string]*jobState{}}
}

func (j *judge) state(key string) *jobState {
	s := j.jobs[key]
	if s == nil {
		s = &jobState{}
		j.jobs[key] = s
	}
	return s
}

// observed takes in what has happened in a queue. The world is locked.
func (j *judge) observed(e queues.Event, name string) {
	key := keyOf(name)
	if e.Queue == "dead" {
		if e.Kind == queues.Sent {
			j.lettered(e, name)
		}
		return
	}
	switch e.Kind {
	case queues.Sent:
		m := &message{id: e.MessageID, name: name, body: e.Body, attrs: e.MessageAttributes}
		j.messages[e.MessageID] = m
		j.order = append(j.order, m)
	case queues.Received:
		j.messages[e.MessageID].receives = e.ReceiveCount
	case queues.Deleted:
		m, s := j.messages[e.MessageID], j.state(key)
		m.gone = "deleted"
		if !s.completed && s.letters == 0 {
			j.w.breaksLocked("accounting", []string{key}, "%s is deleted, but neither done nor dead-lettered", name)
		}
	case queues.Redriven:
		j.messages[e.MessageID].gone = "moved"
		j.letters = append(j.letters, &letter{
			id: e.MessageID, name: name, moved: true, body: e.Body, attrs: e.MessageAttributes,
		})
	}
}

// lettered takes in a letter that was sent.
func (j *judge) lettered(e queues.Event, name string) {
	key := keyOf(name)
	l, s := &letter{id: e.MessageID, name: name, body: e.Body, attrs: e.MessageAttributes}, j.state(key)
	j.letters = append(j.letters, l)
	s.letters++
	if s.confirmed {
		j.w.breaksLocked("one letter", []string{key}, "the letter of %s is sent again after it was confirmed", name)
	}
	if carried := e.MessageAttributes[dlq.AttributeName]; carried.StringValue == nil {
		j.w.breaksLocked("record", []string{key}, "the letter of %s has no record", name)
	} else if r, err := dlq.Decode(*carried.StringValue); err != nil {
		j.w.breaksLocked("record", []string{key}, "the record of %s: %v", name, err)
	} else {
		l.record = &r
		j.w.noteLocked("sqs", []string{key}, "letter of %s: %s %s: %.100s", name, r.Class, r.Reason, r.Message)
	}
}

// claimed takes in the answer to a claim.
func (j *judge) claimed(p *process, r idem.Request, a idem.Answer) {
	_, key, _ := strings.Cut(r.ID, "#")
	if p.isDead() {
		return
	}
	text := fmt.Sprintf("claim %s: %s", key, a.Kind)
	if a.Kind == idem.AnswerAcquired {
		text += fmt.Sprintf(", unsettled %d, crashes %d, attempts %d, epoch %d",
			a.Claims-a.Settled, a.Job.Crashes, a.Job.Attempts, a.Job.Epoch)
	}
	p.note(p.name, []string{key}, "%s", text)
}

// effective takes in that a call had its effect.
func (j *judge) effective(p *process, c *call, ok bool) {
	if !ok || len(c.subjects) != 1 || c.service == "AmazonSQS" {
		return
	}
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	s := j.state(c.subjects[0])
	switch c.operation {
	case idem.SettleComplete.String():
		s.completed = true
	case idem.SettleVerdict.String():
		s.dead = true
	case idem.SettleConfirm.String():
		s.confirmed = true
	}
	if s.completed && s.dead {
		j.w.breaksLocked("one outcome", c.subjects, "%s is completed and dead", c.subjects[0])
	}
}

// started takes in the start of a run.
func (j *judge) started(p *process, ctx context.Context, m *handler.Message, job *job, name string) *jobRun {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	key := keyOf(name)
	s := j.state(key)
	r := &jobRun{number: len(s.runs) + 1, process: p, ctx: ctx, start: p.now(), job: job, name: name}
	j.w.noteLocked(p.name, []string{key}, "RUN %d of %s (%s) begins, receive %d", r.number, name, job.kind, m.ReceiveCount())
	for _, other := range s.runs {
		if !other.ended && !other.process.isDead() && other.ctx.Err() == nil {
			j.w.breaksLocked("one run at a time", []string{key}, "run %d of %s begins while run %d goes on", r.number, name, other.number)
		}
	}
	switch {
	case s.completed:
		j.w.breaksLocked("no run after the end", []string{key}, "%s runs although it is completed", name)
	case s.dead:
		j.w.breaksLocked("no run after the end", []string{key}, "%s runs although it is dead", name)
	}
	s.runs = append(s.runs, r)
	return r
}

// returned takes in the end of a run.
func (j *judge) returned(r *jobRun, err error) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	r.ended = true
	j.w.noteLocked(r.process.name, []string{keyOf(r.name)}, "RUN %d of %s ends: %v", r.number, r.name, err)
}

// paid takes in what the provider did.
func (j *judge) paid(key string, job *job) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	if key != job.name {
		j.w.breaksLocked("key", []string{job.name}, "the provider got the key %q for %s", key, job.name)
	}
	j.state(job.name).paid++
}

func (j *judge) killed(*process) {}

func (j *judge) reported(*process, handler.Report) {}

// left is how many messages are in the source queue.
func (j *judge) left() int {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	n := len(j.w.jobs) - len(j.order)
	for _, m := range j.order {
		if m.gone == "" {
			n++
		}
	}
	return n
}
