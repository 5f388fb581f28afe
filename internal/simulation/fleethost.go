package simulation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// host runs one process after another.
type host struct {
	*fleet
	index   int
	started int
	bounded bool // its invocations have a deadline, as in Lambda
	process *process
}

// process has several invocations at a time, and dies at once or after a panic.
type process struct {
	*host
	number      int
	version     version
	processor   *handler.Processor
	gone        chan struct{}
	dead        bool
	crashing    bool // it ends when its invocations have
	invocations int
	running     int // jobs
	lone        *hold
	holds       map[string]*hold // by owner
	runs        map[string]*hold // by message, the last
	batches     map[*mail]int    // that have it
}

func (p *process) String() string {
	if p.version == before {
		return fmt.Sprintf("process %d (before)", p.number)
	}
	return fmt.Sprintf("process %d", p.number)
}

func (h *host) start() {
	p := &process{
		host: h, number: h.index + 100*h.started, gone: make(chan struct{}),
		holds: map[string]*hold{}, runs: map[string]*hold{}, batches: map[*mail]int{},
	}
	p.version = h.deploys.draw(h.passed, chance(h.seed, h.index, h.started))
	h.started++
	h.process = p
	quiet := slog.New(slog.DiscardHandler)
	ledger, err := idem.New(link{p}, &idem.Options{Key: p.key, Logger: quiet})
	if err != nil {
		panic(err)
	}
	o := &handler.Options{
		Ledger: p.version.ledger(ledger), DeadLetter: p, Queue: p, Concurrency: h.concurrency, MaxReceives: h.maxReceives,
		Breaker: h.breaker, Logger: quiet, Random: func() float64 { return 0.5 },
	}
	if h.drops {
		o.Drop = []string{"refused"}
	}
	if p.processor, err = handler.NewProcessor(handler.Func(p.run), o); err != nil {
		panic(err)
	}
}

// kill ends the process from outside, wherever it is.
func (h *host) kill() {
	h.locked(func() {
		h.note("%s is killed", h.process)
		h.countKill()
		for m := range h.process.batches {
			m.disturbed++
		}
		h.process.end()
	})
}

// countKill counts a kill by what it meets.
func (h *host) countKill() {
	switch p := h.process; {
	case p.lone != nil:
		h.count("kill in a lone run")
	case p.running > 0:
		h.count("kill in a run")
	case p.invocations > 0:
		h.count("kill between runs")
	}
}

// end lets the process reach nothing any more. Another takes its place.
func (p *process) end() {
	if p.dead {
		return
	}
	p.dead = true
	close(p.gone)
	p.start()
}

// dies is the end of the process by a job. It may be the end of no other that
// was to be alone.
func (p *process) dies(h *hold, way order) {
	j := h.job
	h.ended = true
	p.note("%s: %s ends it", p, j.name)
	p.count("ends its process, alone: %v", h.lone)
	if way != abandon && !h.beside {
		p.ended(j)
	}
	if p.lone != nil && p.lone.job != j {
		p.breaks("a lone run ends with its own job", "%s ends with %s", p.lone.job.name, j.name)
	}
	if p.running > 1 && p.lone != nil {
		p.breaks("a suspect runs alone", "%s ends beside %d others", j.name, p.running-1)
	}
}

// invoke handles one batch to its end, or to that of the process.
func (p *process) invoke(batch []*mail, number int) {
	ctx := context.Background()
	if p.bounded {
		var cancel context.CancelFunc
		// No two invocations have the same time, so that none notice its end at once.
		ctx, cancel = context.WithTimeout(ctx, invocationTime+time.Duration(number)*time.Millisecond)
		defer cancel()
	}
	e := events.SQSEvent{Records: []events.SQSMessage{}}
	for _, m := range batch {
		p.tell("%s gets %s", p, m.id)
		e.Records = append(e.Records, p.record(m))
	}
	defer p.leave(ctx, batch)
	response, err := p.processor.Handle(ctx, e)
	if err != nil {
		p.breach("a batch is handled", "%v", err)
	}
	back := map[string]bool{}
	for _, failure := range response.BatchItemFailures {
		back[failure.ItemIdentifier] = true
	}
	if p.park(ctx, &halt{at: atDelete, name: batchName(batch)}) != goOn {
		p.locked(func() { disturb(batch) })
		return
	}
	p.locked(func() {
		for _, m := range batch {
			if !back[m.id] && !p.dead {
				p.acknowledges(m)
			}
		}
	})
}

func disturb(batch []*mail) {
	for _, m := range batch {
		m.disturbed++
	}
}

func batchName(batch []*mail) string {
	var name strings.Builder
	for _, m := range batch {
		name.WriteString(m.id)
	}
	return name.String()
}

// leave ends an invocation. A worker ends when one of its batches has panicked. Lambda
// waits for the others, but no longer than until the time of that one is over.
func (p *process) leave(ctx context.Context, batch []*mail) {
	panicked := recover() != nil
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range batch {
		m.taken--
		if p.batches[m]--; p.batches[m] == 0 {
			delete(p.batches, m)
		}
	}
	p.invocations--
	p.crashing = p.crashing || panicked
	deadline, bounded := ctx.Deadline()
	switch {
	case p.crashing && (p.invocations == 0 || !bounded):
		p.end()
	case panicked:
		time.AfterFunc(time.Until(deadline)-100*time.Millisecond, func() { p.locked(p.end) })
	}
}

// record is the delivery as Lambda gives it to the function.
func (p *process) record(m *mail) events.SQSMessage {
	r := events.SQSMessage{
		MessageId: m.id, Body: m.job.name, EventSource: "aws:sqs",
		EventSourceARN: fmt.Sprintf("arn:aws:sqs:eu-central-1:123456789012:fleet-%d", p.seed),
		Attributes: map[string]string{
			"ApproximateReceiveCount": strconv.Itoa(m.receives),
			"SentTimestamp":           strconv.FormatInt(m.sentAt.UnixMilli(), 10),
		},
	}
	if p.fifo {
		r.EventSourceARN += ".fifo"
		r.Attributes["MessageGroupId"] = m.job.group
	}
	return r
}

// key is where messages of a batch come one by one.
func (p *process) key(ctx context.Context, m *handler.Message) (string, error) {
	if p.park(ctx, &halt{at: atPause, name: m.MessageId}) == die {
		return "", errGone
	}
	return m.Body, nil
}

var errStranded = errors.New("stranded")

// run is the user's function.
func (p *process) run(ctx context.Context, m *handler.Message) error {
	h := p.began(m)
	defer p.locked(func() { p.running-- })
	what := p.park(ctx, &halt{at: atJob, name: m.MessageId, job: h.job})
	if what == die {
		return errGone
	}
	if ctx.Err() != nil {
		p.locked(func() { h.job.failed++ }) // it has had its time
		return ctx.Err()
	}
	if what.acts() {
		p.takes(h)
	}
	switch what {
	case panicBefore, panicAfter, exitBefore, exitAfter, strand, abandon:
		return p.endBy(ctx, h, what)
	case refuse:
		p.locked(func() { h.job.refused = true })
		return errRefused
	case failBefore:
		p.locked(func() { h.job.failed++ })
		return errBusy
	}
	return nil
}

// endBy ends the process as the job does it.
func (p *process) endBy(ctx context.Context, h *hold, way order) error {
	p.locked(func() { p.dies(h, way) })
	switch way {
	case panicBefore, panicAfter:
		panic("out of range")
	case strand:
		handler.Go(ctx, func(context.Context) error { panic(errStranded) })
		return nil
	case abandon:
		if p.bounded {
			<-p.gone
			return errGone
		}
	}
	p.locked(p.end)
	return errGone
}

// began is called where the user's function is.
func (p *process) began(m *handler.Message) *hold {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.runs[m.MessageId]
	h.ran = true
	p.running++
	p.note("%s runs %s of %s, alone: %v", p, m.MessageId, h.job.name, h.lone)
	if p.dead {
		return h
	}
	p.countRun(m, h)
	h.beside = h.suspect && !h.lone
	switch {
	case h.beside && !p.pressing(m.ReceiveCount()):
		p.breaks("the crash of a suspect is counted before its run", "%s", h.job.name)
	case h.lone && p.running > 1, p.lone != nil && p.lone != h:
		p.breaks("a suspect runs alone", "%d jobs run as %s begins", p.running, h.job.name)
	}
	p.inOrder(m, h)
	return h
}

// countRun counts a run by what it runs beside.
func (p *process) countRun(m *handler.Message, h *hold) {
	switch {
	case h.lone:
		p.count("lone run")
	case h.suspect:
		p.count("suspect beside others")
	case p.running > 1:
		p.count("runs side by side")
	}
	if p.fifo && m.ReceiveCount() > 1 {
		p.count("a group comes back")
	}
}

// pressing tells whether so many receives let a suspect run beside others.
func (p *process) pressing(receives int) bool {
	most := p.maxReceives
	if most == 0 {
		most = 30
	}
	return 4*receives >= 3*most
}

// inOrder holds a start against the order of its FIFO group.
func (p *process) inOrder(m *handler.Message, h *hold) {
	if !p.fifo {
		return
	}
	for _, earlier := range p.queue {
		if earlier.id == m.MessageId {
			return
		}
		if j := earlier.job; j.group == h.job.group && j != h.job && !j.ends() {
			p.breaks("a group keeps its order", "%s begins before %s has ended", m.MessageId, earlier.id)
		}
	}
}

// Send implements [handler.DeadLetter].
func (p *process) Send(ctx context.Context, letters []handler.Letter) {
	fate := p.park(ctx, &halt{at: atSend, name: letters[0].Message.MessageId})
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range letters {
		l := &letters[i]
		if fate == die || fate == drop {
			l.Err = errGone
			continue
		}
		p.posted(*l)
		if fate == lose {
			l.Err = errGone
			continue
		}
		l.DeadLetterID = "letter-" + l.Message.MessageId
	}
}

func (p *process) posted(l handler.Letter) {
	for _, j := range p.jobs {
		if j.name == l.Message.Body {
			p.note("%s sends the letter of %s", p, j.name)
			j.letters++
			if j.verdict == "" || !l.Failure.Verdict {
				p.breaks("a verdict comes before its letter", "%s has none", j.name)
			}
		}
	}
}

// ChangeVisibility implements [handler.Queue].
func (p *process) ChangeVisibility(_ context.Context, changes []handler.VisibilityChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range changes {
		c := &changes[i]
		if c.Done = !p.dead; p.dead {
			c.Err = errGone
			continue
		}
		if m := p.mailOf(c.Message.MessageId); m != nil {
			m.visibleAt = time.Now().Add(c.Timeout)
		}
	}
}

// Delete implements [handler.Queue].
func (p *process) Delete(_ context.Context, deletions []handler.Deletion) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range deletions {
		d := &deletions[i]
		if d.Done = !p.dead; p.dead {
			d.Err = errGone
			continue
		}
		if m := p.mailOf(d.Message.MessageId); m != nil {
			p.acknowledges(m)
		}
	}
}

// park waits until the scheduler says what is to happen: to go no further, for
// a process that has ended.
func (p *process) park(ctx context.Context, h *halt) order {
	h.process, h.resume = p, make(chan order)
	dead := false
	p.locked(func() {
		if dead = p.dead; !dead {
			p.parked = append(p.parked, h)
		}
	})
	if dead {
		return die
	}
	select {
	case fate := <-h.resume:
		return p.still(fate)
	case <-p.gone:
	case <-ctx.Done():
	}
	if p.retire(h) {
		return p.still(drop)
	}
	return p.still(<-h.resume)
}

// still is fate for a process that lives.
func (p *process) still(fate order) order {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return die
	}
	return fate
}
