package idemtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strconv"
	"time"

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
	busy, dead bool
	handle     handler.Func
	run        *run // the one under way or the last
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
	once := idem.Middleware(wire{p}, &idem.Options{
		Key:               func(context.Context, *handler.Message) (string, error) { return "k", nil },
		Keep:              p.keep,
		DeadLetterUnknown: p.careful,
		Logger:            slog.New(slog.DiscardHandler),
	})
	p.handle = once(p.classify)
}

func (p *worker) String() string { return fmt.Sprintf("worker %d.%d", p.index, p.generation) }

// clock is the time that the worker believes in.
func (p *worker) clock() time.Time { return time.Now().Add(p.skew) }

// receive handles one delivery to its end, or to that of the process.
func (p *worker) receive(m *message) {
	p.busy = true
	defer func() {
		m.taken--
		p.busy = false
		if value := recover(); value != nil {
			p.tell("%s panics", p)
			p.successorAfterPanic()
		}
	}()
	ctx := context.Background()
	if p.bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, invocationTime)
		defer cancel()
	}
	delivered := p.message(m)
	r := delivered.Resolve(ctx, p.handle(ctx, delivered))
	p.tell("%s: %s is %s", p, m.id, r.Outcome)
	p.settle(ctx, m, delivered, r)
}

func (p *worker) successorAfterPanic() {
	p.condemn(p)
	p.workers[p.index] = p.successor()
}

// message is the delivery as the middleware gets it.
func (p *worker) message(m *message) *handler.Message {
	out := &handler.Message{Replay: m.replay}
	out.MessageId, out.Body = m.id, m.body
	out.EventSourceARN = fmt.Sprintf("arn:aws:sqs:eu-central-1:123456789012:model-%d", p.seed)
	out.Attributes = map[string]string{"SentTimestamp": strconv.FormatInt(m.sentAt.UnixMilli(), 10)}
	return out
}

// classify runs the job and takes the chance out of its delay.
func (p *worker) classify(ctx context.Context, m *handler.Message) error {
	err := p.job(ctx, m)
	if err == nil {
		return nil
	}
	r := m.Resolve(ctx, err)
	r.Delay = min(r.Delay, time.Second)
	p.run.costs = r.Job.Attempts - m.Job.Attempts
	if p.drops && r.Outcome == handler.OutcomeDead {
		r.Outcome = handler.OutcomeDropped
	}
	return r
}

var (
	errRefused = fault.Permanent(errors.New("refused"), fault.Reason("refused"))
	errOdd     = errors.New("odd")
	errBusy    = fault.Retryable(errors.New("try again"), fault.Reason("provider"))
)

// job is the user's function. When it goes on fate has decided what it does.
func (p *worker) job(ctx context.Context, _ *handler.Message) error {
	p.began(p)
	fate := p.park(ctx, atJob)
	if ctx.Err() != nil && p.honest {
		p.tell("%s stops", p)
		return ctx.Err()
	}
	if fate.acts() {
		if err := p.act(ctx); err != nil {
			p.run.failed = true
			return err
		}
	}
	p.run.failed = fate != succeed && fate != abandon && fate != exitBefore && fate != exitAfter
	switch fate {
	case exitBefore, exitAfter:
		return p.exit()
	case succeed:
		return nil
	case refuse:
		return errRefused
	case panicBefore, panicAfter:
		panic("out of range")
	case abandon:
		return handler.ErrAbandoned
	case failOddly:
		return errOdd
	default:
		return errBusy
	}
}

// exit ends the process without a word.
func (p *worker) exit() error {
	p.tell("%s ends without a word", p)
	p.successorAfterPanic()
	runtime.Goexit()
	return nil
}

// act has the job's effect: by itself, as a step of the job, or in the
// transaction that completes it.
func (p *worker) act(ctx context.Context) error {
	switch p.way {
	case byStep:
		return idem.Step(ctx, "charge", func(ctx context.Context) error {
			p.took(ctx, p)
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
		p.took(ctx, p)
		return nil
	}
}

// settle does to the queues what the processor would do.
func (p *worker) settle(ctx context.Context, m *message, delivered *handler.Message, r *handler.Result) {
	switch r.Outcome {
	case handler.OutcomeDone, handler.OutcomeDuplicate, handler.OutcomeDropped:
		p.acknowledge(ctx, m)
	case handler.OutcomeDead:
		if p.sendLetter(ctx, delivered, r) {
			p.acknowledge(ctx, m)
		}
	case handler.OutcomeCrash:
		p.successorAfterPanic()
	}
}

func (p *worker) acknowledge(ctx context.Context, m *message) {
	if p.park(ctx, atDelete) == goOn {
		p.tell("%s deletes %s", p, m.id)
		p.delete(m)
	}
}

// sendLetter tells whether the dead-letter queue has confirmed the job.
func (p *worker) sendLetter(ctx context.Context, m *handler.Message, r *handler.Result) bool {
	fate := p.park(ctx, atSend)
	if !r.Lease.IsZero() && time.Until(r.Lease) < handler.ClockMargin || fate == drop {
		p.tell("%s sends no letter", p)
		return false
	}
	id := p.post(p, m, r)
	if fate != goOn {
		return false
	}
	if r.AfterSend != nil && r.AfterSend(ctx, id) == nil && p.owner == p.run.owner && p.confirmed == "" {
		p.breach("a letter that was sent is confirmed", "the confirmation of %s is not written", id)
	}
	return true
}

// park waits until the scheduler says what is to happen. A process that was
// killed goes no further.
func (p *worker) park(ctx context.Context, at point) order {
	t := &task{worker: p, at: at, ctx: ctx, resume: make(chan order)}
	if p.enlist(t) {
		if fate := p.await(t); fate != die {
			return fate
		}
	}
	runtime.Goexit()
	return die
}

// await gives what the scheduler makes of the task. A renewal gives up when its
// time is over, since the claim goes by it.
func (p *worker) await(t *task) order {
	over := t.ctx.Done()
	if t.at != atRenew && t.at != atRenewed {
		over = nil
	}
	select {
	case fate := <-t.resume:
		return fate
	case <-over:
		if p.retire(t) {
			return drop
		}
		return <-t.resume
	}
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
