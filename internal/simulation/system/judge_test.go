package system

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

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
	// lowered and emptied tell what operators have done.
	lowered, emptied bool
	// edited are jobs of which operators have sent other payloads.
	edited   map[string]bool
	accounts map[string]*account
	// arrived are the letters of which a process was told that they have, by process and
	// message.
	arrived map[string]bool
	// unconfirmed are those that a process could not confirm, by process, message and receive.
	unconfirmed map[string]bool
	// waiting are deliveries by process and message.
	waiting map[string]*delivery
	active  map[*process]*activity
	// ends are when the time for a message ends, by process and message; verdicts when one was
	// first about to be written, by owner.
	ends     map[string][]term
	verdicts map[string]time.Duration
	// busy is until when a claim holds that has kept out a message, by process and message.
	busy map[string]time.Duration
	// counted are the crashes that lone runs have counted ahead, by owner.
	counted map[string]int
	// said is what SQS has said last, by process, operation and receive; receipts are the
	// receives by their handles.
	said     map[string]bool
	receipts map[string]string
	// straggler reports whether a letter that is sent now comes from a call that was given up.
	straggler bool
	// lastDeath is when a process died last.
	lastDeath time.Duration
	// fullAt is when no worker had a free slot last.
	fullAt time.Duration
	// late reports whether healthy jobs have taken too long.
	late bool
}

// message is a message that was sent to the source queue.
type message struct {
	id, name string
	body     string
	group    string
	attrs    map[string]queues.Attribute
	sent     time.Duration
	receives int
	// dropped reports whether middleware has given it up.
	dropped bool
	// due is when it becomes visible.
	due time.Duration
	// started reports whether it was run once; blocked is when it waited last for another
	// of its group.
	started bool
	blocked time.Duration
	// back is what its last outcome has said of its next receive; nil for nothing.
	back *comeback
	// gone is how it left the queue: "deleted", "moved" or "purged"; empty while it is
	// there.
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
	paid    int
	epochs  []*epoch
	letters int
	claims  claims
	// killedAlone is how often its process was killed from outside while it ran alone:
	// nobody can tell that from its own doing.
	killedAlone int
	// recorded are the steps that the ledger has.
	recorded map[string]bool
	// leases are how long claims last, by process and message.
	leases map[string]time.Duration
	// owners are those of the claims.
	owners map[string]string
	fence  fence
	budget budget
}

// epoch is a life of a job in the ledger.
type epoch struct {
	completed, dead, confirmed bool
	// deadAt is when the verdict was written, decided when it was first about to be.
	deadAt, decided time.Duration
	letters         int
	// outcomeAt is when it was completed, or its last letter was sent.
	outcomeAt time.Duration
}

// at is an epoch of the job.
func (s *jobState) at(number int) *epoch {
	for len(s.epochs) <= number {
		s.epochs = append(s.epochs, &epoch{})
	}
	return s.epochs[number]
}

// settled reports whether the job has an outcome that lets the next of its group start:
// it is completed, or dead with a letter.
func (s *jobState) settled() bool {
	for _, e := range s.epochs {
		if e.completed || e.dead && (e.letters > 0 || e.confirmed) {
			return true
		}
	}
	return s.letters > 0
}

// dropped reports whether the job is dead without a letter.
func (s *jobState) dropped() bool {
	return slices.ContainsFunc(s.epochs, func(e *epoch) bool { return e.dead })
}

// outcomeAfter reports whether the job has an outcome in an epoch that began after its
// deaths before a time.
func (s *jobState) outcomeAfter(at time.Duration) bool {
	first := 0
	for i, e := range s.epochs {
		if e.dead && e.deadAt < at {
			first = i + 1
		}
	}
	return slices.ContainsFunc(s.epochs[min(first, len(s.epochs)):], func(e *epoch) bool {
		return e.completed || e.letters > 0
	}) || slices.ContainsFunc(s.epochs, func(e *epoch) bool {
		return e.outcomeAt > at // a release with another key begins with its first epoch again
	})
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
	kind    kind
	// messageID is that of its message, receive how often it was received then.
	messageID string
	receive   int
	// free reports whether its failure must cost nothing: it was cancelled, or cut off in less
	// than half of the time for jobs.
	free bool
}

func newJudge(w *world) *judge {
	return &judge{
		w: w, messages: map[string]*message{}, jobs: map[string]*jobState{}, accounts: map[string]*account{},
		edited: map[string]bool{}, arrived: map[string]bool{}, unconfirmed: map[string]bool{},
		waiting: map[string]*delivery{}, active: map[*process]*activity{},
		ends: map[string][]term{}, verdicts: map[string]time.Duration{},
		said: map[string]bool{}, receipts: map[string]string{}, counted: map[string]int{},
		busy: map[string]time.Duration{},
	}
}

func (j *judge) state(key string) *jobState {
	s := j.jobs[key]
	if s == nil {
		s = &jobState{recorded: map[string]bool{}}
		j.jobs[key] = s
	}
	return s
}

// observed takes in what has happened in a queue. The world is locked.
func (j *judge) observed(e queues.Event, name string) {
	if strings.HasPrefix(e.Queue, "dead") {
		if e.Kind == queues.Sent {
			j.lettered(e, name)
		}
		return
	}
	if e.Kind == queues.Sent {
		m := &message{
			id: e.MessageID, name: name, body: e.Body, attrs: e.MessageAttributes, group: e.GroupID, sent: j.w.now(),
		}
		j.messages[e.MessageID] = m
		j.order = append(j.order, m)
		return
	}
	m := j.messages[e.MessageID]
	switch e.Kind {
	case queues.VisibilityChanged:
		m.due = j.w.now() + e.Timeout
	case queues.Received:
		j.checkComeback(m)
		j.checkHidden(m)
		m.receives, m.due = e.ReceiveCount, j.w.now()+e.Timeout
	case queues.Deleted:
		m.gone = "deleted"
		j.deleted(m)
	case queues.Redriven:
		m.gone = "moved"
		j.w.stats["moved by SQS"]++
		j.letters = append(j.letters, &letter{
			id: e.MessageID, name: name, moved: true, body: e.Body, attrs: e.MessageAttributes,
		})
	}
}

// nextDue is when a message that is hidden becomes visible, or much later.
func (j *judge) nextDue() time.Duration {
	next := time.Duration(math.MaxInt64)
	for _, m := range j.order {
		if m.gone == "" && m.due > j.w.now() {
			next = min(next, m.due)
		}
	}
	return next
}

// hasVisible reports whether a message may be received now.
func (j *judge) hasVisible() bool {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	return slices.ContainsFunc(j.order, func(m *message) bool { return m.gone == "" && m.due <= j.w.now() })
}

// deleted checks that what leaves the queue has an outcome: its job is done, or it has a
// letter. A message that was sent after a death of its job needs a new outcome.
func (j *judge) deleted(m *message) {
	key := keyOf(m.name)
	s := j.state(key)
	margin := 2 * time.Second // of the clocks, for whom the order of the two is open
	if j.w.on[skews] {
		margin += 2 * time.Second
	}
	if j.w.on[drifts] {
		margin += 10 * time.Second
	}
	switch {
	case s.outcomeAfter(m.sent-margin) || j.hasLetter(m):
		return
	case j.w.on[failOpen] && j.w.on[dropping] && !kindOf(m.body).healthy(): // nobody writes it
		return
	case kindOf(m.body) == unwanted, j.w.on[failOpen] && s.paid > 0, j.w.on[dropping] && s.dropped():
		return
	}
	j.w.breaksLocked("accounting", []string{key}, "%s is deleted, but neither done nor dead-lettered", m.name)
}

// hasLetter reports whether a letter was sent for this very message.
func (j *judge) hasLetter(m *message) bool {
	for _, l := range j.letters {
		if l.record != nil && (l.record.MessageID == m.id || l.record.DeliveredID == m.id) {
			return true
		}
	}
	return false
}

// lettered takes in a letter that was sent.
func (j *judge) lettered(e queues.Event, name string) {
	key := keyOf(name)
	l, s := &letter{id: e.MessageID, name: name, body: e.Body, attrs: e.MessageAttributes}, j.state(key)
	j.letters = append(j.letters, l)
	carried := e.MessageAttributes[dlq.AttributeName]
	if carried.StringValue == nil {
		j.w.breaksLocked("record", []string{key}, "the letter of %s has no record", name)
		return
	}
	r, err := dlq.Decode(*carried.StringValue)
	if err != nil {
		j.w.breaksLocked("record", []string{key}, "the record of %s: %v", name, err)
		return
	}
	l.record = &r
	j.checkRecord(l)
	j.checkLetterOrder(l)
	j.w.noteLocked("sqs", []string{key}, "letter of %s: epoch %d %s %s: %.100s",
		name, r.Epoch, r.Class, r.Reason, r.Message)
	s.letters++
	if !r.Verdict {
		return
	}
	if keyOf(r.Key) != key {
		j.w.breaksLocked("record", []string{key}, "the record of %s has the key %q", name, r.Key)
	}
	at := s.at(r.Epoch)
	at.letters++
	at.outcomeAt = j.w.now()
	switch {
	case !at.dead:
		j.w.breaksLocked("verdict first", []string{key}, "the letter of %s is sent without a verdict", name)
	case at.confirmed && !j.straggler:
		j.w.breaksLocked("one letter", []string{key}, "the letter of %s is sent again after it was confirmed", name)
	}
}

// claimed takes in the answer to a claim.
func (j *judge) claimed(p *process, r idem.Request, a idem.Answer) {
	_, key, _ := strings.Cut(r.ID, "#")
	key = keyOf(key)
	if p.isDead() {
		return
	}
	text := fmt.Sprintf("claim %s for %s: %s", key, p.nameOf(r.MessageID), a.Kind)
	if a.Kind == idem.AnswerAcquired || a.Kind == idem.AnswerSend {
		j.w.mu.Lock()
		j.checkEpoch(r, a, key)
		j.w.mu.Unlock()
	}
	if a.Kind == idem.AnswerAcquired {
		j.w.mu.Lock()
		j.leased(p, &call{subjects: []string{key}, messageID: r.MessageID, lease: a.Claim.Lease, owner: r.Owner})
		j.w.mu.Unlock()
		text += fmt.Sprintf(", unsettled %d, crashes %d, attempts %d, epoch %d",
			a.Claims-a.Settled, a.Job.Crashes, a.Job.Attempts, a.Job.Epoch)
	}
	if a.Kind == idem.AnswerBusy {
		j.w.mu.Lock()
		j.busy[p.name+" "+r.MessageID] = a.Until.Sub(j.w.begin) - p.skew
		j.w.mu.Unlock()
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
	j.checkFence(p, c)
	j.lonely(p, c)
	switch c.operation {
	case "claim":
		s.claims.begin(c.owner)
		return
	case "renew":
		j.leased(p, c)
	case idem.SettleAlone.String():
		if p.struck { // the write was under way
			s.killedAlone++
		}
	case idem.SettleCrash.String():
		j.checkBlame(p, c)
		j.checkRelease(p, c)
	case idem.SettleAbort.String(), idem.SettleRelease.String():
		j.checkRelease(p, c)
		j.checkAttempts(p, c)
	}
	if what := s.claims.settle(p, c); what != "" {
		j.w.breaksLocked("aloneness", c.subjects, "%s: %s", c.subjects[0], what)
	}
	e := s.at(c.epoch)
	switch c.operation {
	case idem.SettleComplete.String():
		e.completed, e.outcomeAt = true, j.w.now()
	case "transact":
		e.completed, e.outcomeAt = true, j.w.now()
		s.paid++
	case idem.SettleVerdict.String():
		e.dead, e.deadAt, e.decided = true, j.w.now(), j.verdicts[c.owner]
	case idem.SettleConfirm.String():
		e.confirmed = true
		if e.letters == 0 {
			j.w.breaksLocked("accounting", c.subjects, "the letter of %s is confirmed, but was not sent", c.subjects[0])
		}
	}
	if step, ok := strings.CutPrefix(c.operation, "step "); ok {
		s.recorded[step] = true
	}
	if e.completed && e.dead {
		j.w.breaksLocked("one outcome", c.subjects, "%s is completed and dead in epoch %d", c.subjects[0], c.epoch)
	}
}

// started takes in the start of a run.
func (j *judge) started(ctx context.Context, p *process, m *handler.Message, job *job, name string) *jobRun {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	key := keyOf(name)
	about := []string{key}
	s := j.state(key)
	r := &jobRun{
		number: len(s.runs) + 1, process: p, ctx: ctx, start: p.now(), job: job, name: name, kind: kindOf(m.Body),
		messageID: m.MessageId, receive: m.ReceiveCount(),
	}
	if j.besideOther(p) {
		j.w.stats[statBeside]++
	}
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		j.account(lc.AwsRequestID).runs++
	}
	j.w.noteLocked(p.name, about, "RUN %d of %s (%s) begins, receive %d", r.number, name, r.kind, m.ReceiveCount())
	for _, other := range s.runs {
		if other.ended || other.process.isDead() || j.w.on[failOpen] {
			continue
		}
		if other.ctx.Err() != nil {
			j.checkLease(r, other)
			continue
		}
		if j.w.on[drifts] { // a lease that the other still has seems to have ended
			j.w.stats["excused: two runs at a time, of clocks that differ"]++
		} else {
			j.w.breaksLocked("one run at a time", about, "run %d of %s begins while run %d goes on",
				r.number, name, other.number)
		}
	}
	for n, e := range s.epochs {
		if n >= m.Job.Epoch && (e.completed || e.dead) && !j.w.on[failOpen] {
			j.w.breaksLocked("no run after the end", about, "%s runs in epoch %d, epoch %d is over", name, m.Job.Epoch, n)
		}
	}
	j.checkAlone(p, m, key)
	j.checkStart(r)
	j.checkEnding(r, m)
	j.checkLone(r)
	s.runs = append(s.runs, r)
	j.takenUp(p, m.MessageId)
	j.runs(p, 1)
	if sent := j.messages[m.MessageId]; sent != nil {
		sent.started = true
	}
	j.checkOrder(r, j.messages[m.MessageId])
	return r
}

// checkOrder checks that nothing before a message in its group is open.
func (j *judge) checkOrder(r *jobRun, m *message) {
	if m == nil || m.group == "" {
		return
	}
	for _, before := range j.order {
		if before == m {
			return
		}
		if before.group == m.group && before.gone == "" && !j.settled(before) {
			j.w.breaksLocked("order", []string{keyOf(m.name), keyOf(before.name)},
				"%s runs before %s of its group is settled", m.name, before.name)
		}
	}
}

// settled reports whether a message has an outcome that lets the next of its group start.
func (j *judge) settled(m *message) bool {
	s := j.state(keyOf(m.name))
	return m.dropped || s.settled() || j.w.on[failOpen] && s.paid > 0
}

// returned takes in the end of a run.
func (j *judge) returned(r *jobRun, err error) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	r.ended = true
	r.free = j.isFree(r, err)
	j.crashes(r, err)
	j.ended(r, err)
	j.runs(r.process, -1)
	j.w.noteLocked(r.process.name, []string{keyOf(r.name)}, "RUN %d of %s ends: %v", r.number, r.name, err)
}

// paid takes in what the provider did.
func (j *judge) paid(key string, job *job) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	if keyOf(key) != job.name {
		j.w.breaksLocked("key", []string{job.name}, "the provider got the key %q for %s", key, job.name)
	}
	j.state(job.name).paid++
}

// straggling tells that a call which was given up is about to have its effect, or had it.
func (j *judge) straggling(c *call, about bool) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	j.straggler = about && c.operation == "send"
	for _, m := range j.order {
		if c.operation == "hide" && slices.Contains(c.subjects, m.name) {
			m.back = nil // what its last outcome has said does not count any more
		}
	}
}

// killed takes in the end of a process, which is its own or comes from outside.
func (j *judge) killed(p *process, own bool) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	j.lastDeath, p.struck = j.w.now(), !own
	for _, s := range j.jobs {
		if p.struck && s.claims.isAlone(p) {
			s.killedAlone++
		}
	}
}

// edit notes that operators send another payload for a job.
func (j *judge) edit(key string) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	j.edited[key] = true
}

// excuse notes what operators have done.
func (j *judge) excuse(what *bool) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	*what = true
}

// purged takes in that the queue was purged.
func (j *judge) purged() {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	j.emptied = true
	for _, m := range j.order {
		if m.gone == "" {
			m.gone = "purged"
		}
	}
}

// left is how many messages are in the source queue, or about to be.
func (j *judge) left() int {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	n := 0
	for _, s := range j.w.sends {
		if s.at > j.w.now() {
			n++
		}
	}
	for _, m := range j.order {
		if m.gone == "" {
			n++
		}
	}
	return n
}
