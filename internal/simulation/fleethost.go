package idemtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

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
	processor   *handler.Processor
	gone        chan struct{}
	dead        bool
	crashing    bool // it ends when its invocations have
	invocations int
	running     int // jobs
	lone        *hold
	holds       map[string]*hold // by owner
	runs        map[string]*hold // by message, the last
}

func (p *process) String() string { return fmt.Sprintf("process %d", p.number) }

func (h *host) start() {
	p := &process{
		host: h, number: h.index + 100*h.started, gone: make(chan struct{}),
		holds: map[string]*hold{}, runs: map[string]*hold{},
	}
	h.started++
	h.process = p
	quiet := slog.New(slog.DiscardHandler)
	once := idem.Middleware(link{p}, &idem.Options{Key: p.key, Logger: quiet})
	o := &handler.Options{
		Middleware: []handler.Middleware{once}, DeadLetter: p, Queue: p, Concurrency: h.concurrency,
		MaxReceives: h.maxReceives, Process: &handler.Process{}, Exit: func() { h.locked(p.end) },
		Breaker: -1, Logger: quiet, Random: func() float64 { return 0.5 },
	}
	if h.drops {
		o.Drop = []string{"refused"}
	}
	p.processor = handler.NewProcessor(handler.Func(p.run), o)
}

// kill ends the process from outside, wherever it is.
func (h *host) kill() {
	h.locked(func() {
		h.note("%s is killed", h.process)
		h.process.end()
	})
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
func (p *process) dies(h *hold) {
	j := h.job
	h.ended = true
	p.note("%s: %s ends it", p, j.name)
	p.ended(j)
	if p.lone != nil && p.lone.job != j {
		p.breaks("a lone run ends with its own job", "%s ends with %s", p.lone.job.name, j.name)
	}
	if p.running > 1 && p.lone != nil {
		p.breaks("a suspect runs alone", "%s ends beside %d others", j.name, p.running-1)
	}
}

// invoke handles one batch to its end, or to that of the process.
func (p *process) invoke(batch []*mail) {
	ctx, cancel := context.WithCancel(context.Background())
	if p.bounded {
		ctx, cancel = context.WithTimeout(context.Background(), invocationTime)
	}
	defer cancel()
	e := events.SQSEvent{Records: []events.SQSMessage{}}
	for _, m := range batch {
		p.tell("%s gets %s", p, m.id)
		e.Records = append(e.Records, p.record(m))
	}
	defer p.leave(batch)
	response, err := p.processor.Handle(ctx, e)
	if err != nil {
		p.breach("a batch is handled", "%v", err)
	}
	back := map[string]bool{}
	for _, failure := range response.BatchItemFailures {
		back[failure.ItemIdentifier] = true
	}
	if p.park(ctx, &halt{at: atDelete, name: batchName(batch)}) != goOn {
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

func batchName(batch []*mail) string {
	var name strings.Builder
	for _, m := range batch {
		name.WriteString(m.id)
	}
	return name.String()
}

// leave ends an invocation. A process that has panicked ends with its last.
func (p *process) leave(batch []*mail) {
	panicked := recover() != nil
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range batch {
		m.taken--
	}
	p.invocations--
	p.crashing = p.crashing || panicked
	if p.crashing && p.invocations == 0 {
		p.end()
	}
}

// record is the delivery as Lambda gives it to the function.
func (p *process) record(m *mail) events.SQSMessage {
	return events.SQSMessage{
		MessageId: m.id, Body: m.job.name, EventSource: "aws:sqs",
		EventSourceARN: fmt.Sprintf("arn:aws:sqs:eu-central-1:123456789012:fleet-%d", p.seed),
		Attributes: map[string]string{
			"ApproximateReceiveCount": strconv.Itoa(m.receives),
			"SentTimestamp":           strconv.FormatInt(m.sentAt.UnixMilli(), 10),
		},
	}
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
	p.locked(func() { p.dies(h) })
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
	switch {
	case p.dead:
	case h.suspect && !h.lone:
		p.breaks("the crash of a suspect is counted before its run", "%s", h.job.name)
	case h.lone && p.running > 1, p.lone != nil && p.lone != h:
		p.breaks("a suspect runs alone", "%d jobs run as %s begins", p.running, h.job.name)
	}
	return h
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

// ChangeVisibility implements [handler.Queue]. What comes back does so by chance.
func (p *process) ChangeVisibility(_ context.Context, changes []handler.VisibilityChange) {
	for i := range changes {
		changes[i].Done = true
	}
}

// Delete implements [handler.Queue].
func (p *process) Delete(_ context.Context, deletions []handler.Deletion) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range deletions {
		d := &deletions[i]
		if p.dead {
			d.Err = errGone
			continue
		}
		d.Done = true
		for _, other := range p.queue {
			if other.id == d.Message.MessageId {
				p.acknowledges(other)
				break
			}
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
