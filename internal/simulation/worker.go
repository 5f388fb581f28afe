package simulation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// worker is a process that handles one message at a time.
type worker struct {
	*world
	index      int
	generation int
	skew       time.Duration // of its clock
	bounded    bool          // its invocations have a deadline, as in Lambda
	scheme     string        // of its hashes; empty for the library's
	honest     bool          // its handler stops when it is told to
	version    version
	busy, dead bool
	gone       chan struct{} // closed when it is dead
	processor  *handler.Processor
	message    *message // the one under way
	run        *run     // the one under way or the last
}

// run is one claim and what came of it.
type run struct {
	owner string
	lease time.Time // as far as the worker knows, by its own clock
	costs int       // budget that its failure costs
	// failed is what the handler said, completed what the store was told.
	failed, completed bool
}

const invocationTime = 30 * time.Second

func newWorker(w *world, index int) *worker {
	p := &worker{world: w, index: index, bounded: w.rng.IntN(2) == 0, honest: w.rng.IntN(2) == 0}
	p.skew = time.Duration(w.rng.IntN(2001)-1000) * time.Millisecond
	if !w.strict {
		p.skew *= 30
	}
	if w.rng.IntN(6) == 0 {
		p.scheme = []string{"later1:", "body1:other"}[w.rng.IntN(2)]
	}
	p.start()
	return p
}

// successor is the process that takes the place of one that has ended.
func (p *worker) successor() *worker {
	next := &worker{
		world: p.world, index: p.index, generation: p.generation + 1,
		skew: p.skew, bounded: p.bounded, scheme: p.scheme, honest: p.honest,
	}
	next.start()
	return next
}

func (p *worker) start() {
	p.locked(func() { p.version = p.deploys.draw(p.passed, chance(p.seed, p.index, p.generation)) })
	p.gone = make(chan struct{})
	quiet := slog.New(slog.DiscardHandler)
	ledger, err := idem.New(wire{p}, &idem.Options{
		Key:               func(context.Context, *handler.Message) (string, error) { return "k", nil },
		Keep:              p.keep,
		Lease:             p.lasts,
		DeadLetterUnknown: p.careful,
		Logger:            quiet,
	})
	if err != nil {
		panic(err)
	}
	o := handler.Options{
		Ledger: p.version.ledger(ledger), DeadLetter: p, Logger: quiet, Breaker: -1, Restore: p.restore,
		Backoff: backoff.Constant{Interval: time.Second, MaxAttempts: 8}, Random: func() float64 { return 0 },
	}
	if p.drops {
		o.Drop = []string{"refused", handler.ReasonExhausted, fault.ReasonUnclassified}
	}
	if p.processor, err = handler.NewProcessor(handler.Func(p.job), &o); err != nil {
		panic(err)
	}
}

func (p *worker) String() string {
	name := fmt.Sprintf("worker %d.%d", p.index, p.generation)
	if p.version == before {
		name += " (before)"
	}
	return name
}

// clock is the time that the worker believes in.
func (p *worker) clock() time.Time { return time.Now().Add(p.skew) }

// receive handles one delivery to its end, or to that of the process.
func (p *worker) receive(m *message) {
	p.message = m
	defer func() {
		p.locked(func() {
			m.taken--
			p.busy = false
		})
		if value := recover(); value != nil {
			p.tell("%s panics: %.80v", p, value)
			p.replace()
		}
	}()
	ctx := context.Background()
	if p.bounded {
		var cancel context.CancelFunc
		// Each worker has its own time, so that no two notice its end at once.
		ctx, cancel = context.WithTimeout(ctx, invocationTime+time.Duration(p.index)*time.Millisecond)
		defer cancel()
	}
	response, err := p.processor.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{p.record(m)}})
	if err != nil {
		p.breach("a batch is handled", "%v", err)
	}
	p.tell("%s: %s ends, back to the queue: %v", p, m.id, len(response.BatchItemFailures) > 0)
	if len(response.BatchItemFailures) == 0 && p.park(ctx, atDelete) == goOn {
		p.tell("%s deletes %s", p, m.id)
		p.delete(m)
	}
}

// replace ends the process. Another takes its place.
func (p *worker) replace() {
	if p.condemn(p) {
		next := p.successor()
		p.locked(func() { p.workers[p.index] = next })
	}
}

// record is the delivery as Lambda gives it to the function.
func (p *worker) record(m *message) events.SQSMessage {
	return events.SQSMessage{
		MessageId: m.id, Body: m.body, EventSource: "aws:sqs",
		EventSourceARN: fmt.Sprintf("arn:aws:sqs:eu-central-1:123456789012:model-%d", p.seed),
		Attributes: map[string]string{
			"ApproximateReceiveCount": strconv.Itoa(m.receives),
			"SentTimestamp":           strconv.FormatInt(m.sentAt.UnixMilli(), 10),
		},
	}
}

// restore is for replays.
func (p *worker) restore(m *handler.Message) { m.Replay = p.message.replay }

var (
	errRefused = fault.Permanent(errors.New("refused"), fault.WithReason("refused"))
	errOdd     = errors.New("odd")
	errBusy    = fault.Retryable(errors.New("try again"), fault.WithReason("provider"))
)

// job is the user's function, and notes what its failure costs.
func (p *worker) job(ctx context.Context, _ *handler.Message) error {
	run := p.run
	err := p.perform(ctx, run)
	if err != nil {
		run.costs = 1
		d := fault.Classify(ctx, err)
		if d.Class == fault.ClassPermanent || d.Reason == fault.ReasonStore || d.Reason == fault.ReasonEnvironment {
			run.costs = 0
		}
	}
	return err
}

// perform does what fate has decided.
func (p *worker) perform(ctx context.Context, run *run) error {
	p.began(p, run)
	fate := p.park(ctx, atJob)
	if fate == die {
		return errGone
	}
	if ctx.Err() != nil && p.honest {
		p.tell("%s stops", p)
		return ctx.Err()
	}
	if fate.acts() {
		if err := p.act(ctx, run); err != nil {
			run.failed = true
			return err
		}
	}
	run.failed = fate != succeed && fate != abandon && fate != exitBefore && fate != exitAfter
	switch fate {
	case exitBefore, exitAfter:
		p.tell("%s ends without a word", p)
		p.replace()
		return errGone
	case succeed:
		return nil
	case refuse:
		return errRefused
	case panicBefore, panicAfter:
		panic("out of range")
	case abandon:
		return p.ignoresItsEnd()
	case failOddly:
		return errOdd
	default:
		return errBusy
	}
}

// ignoresItsEnd goes on until its process ends. Where nothing limits the invocation,
// that is at once.
func (p *worker) ignoresItsEnd() error {
	if !p.bounded {
		p.replace()
	}
	<-p.gone
	return errGone
}

// act has the job's effect: by itself, as a step of the job, or in the
// transaction that completes it.
func (p *worker) act(ctx context.Context, run *run) error {
	switch p.way {
	case byStep:
		return idem.Step(ctx, "charge", func(ctx context.Context) error {
			p.took(ctx, p, run)
			return nil
		})
	case byTransaction:
		completion := idem.CompletionOf(ctx)
		err := wire{p}.complete(ctx, completion.Claim(), completion.HandOut())
		if err == nil {
			completion.Commit()
		}
		return err
	default:
		p.took(ctx, p, run)
		return nil
	}
}

// Send implements [handler.DeadLetter].
func (p *worker) Send(ctx context.Context, letters []handler.Letter) {
	for i := range letters {
		fate := p.park(ctx, atSend)
		if fate == die || fate == drop {
			p.tell("%s sends no letter", p)
			letters[i].Err = errGone
			continue
		}
		id := p.post(p, &letters[i])
		if fate != goOn {
			letters[i].Err = errGone
			continue
		}
		letters[i].DeadLetterID = id
	}
}

// park waits until the scheduler says what is to happen, or until the time of the call
// is over. A process that is dead goes no further.
func (p *worker) park(ctx context.Context, at point) order {
	t := &task{worker: p, at: at, ctx: ctx, resume: make(chan order)}
	if !p.enlist(t) {
		return die
	}
	over := ctx.Done()
	if at == atJob && !p.honest {
		over = nil
	}
	select {
	case fate := <-t.resume:
		return fate
	case <-p.gone:
		if p.retire(t) {
			return die
		}
	case <-over:
		if p.retire(t) {
			return drop
		}
	}
	return <-t.resume
}

// retire tells whether a task was still waiting. It waits no more.
func (w *world) retire(t *task) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(w.parked)
	w.parked = slices.DeleteFunc(w.parked, func(other *task) bool { return other == t })
	return len(w.parked) < before
}

// enlist lets the scheduler know of a task, unless its process is dead.
func (w *world) enlist(t *task) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !t.worker.dead {
		w.parked = append(w.parked, t)
	}
	return !t.worker.dead
}
