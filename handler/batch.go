package handler

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/fault"
)

// batch is one invocation: the messages in the order in which they run, and
// what became of each. All but what mu guards belongs to the invocation's own
// goroutine.
type batch struct {
	*Processor
	ctx        context.Context
	invocation *invocation
	// jobs is the context of all runs: it ends when running messages are cut off.
	// Last is the one of those that are only taken to their verdict.
	jobs, last context.Context
	entries    []*entry
	signals    chan signal
	groups     map[string]*group
	outbox     outbox
	breaker    breaker
	// begun is what put the process in doubt before this batch began; crash is
	// the result of a message of this batch after which nothing more is started.
	begun, crash *Result
	// parked are the messages that stepped aside, in the order in which they did.
	parked []*entry
	// running counts the messages on their way through the chain, started all that were.
	running, started int
	// scouts are the messages that have used up half of their receives.
	scouts []*entry
	// cursor is where the first entry is that has not ended.
	cursor int

	mu sync.Mutex
	// twins holds, by job, the entry that came first.
	twins map[string]*entry
}

type entry struct {
	message *Message
	result  *Result
	state   state
	index   int
	// sent tells that the dead-letter queue has confirmed the message, unsettled
	// that its queue did not do what was asked for it.
	sent, unsettled bool
	// scout tells that the message was started before its time, to find out whether
	// it is a suspect.
	scout bool
	// call wakes a message that stepped aside.
	call chan string
	// follows is the entry whose outcome a twin waits for.
	follows     *entry
	payloadHash string
}

// state is where an entry is on its way.
type state uint8

const (
	// stateWaiting has not been started.
	stateWaiting state = iota
	// stateRunning is on its way through the chain.
	stateRunning
	// stateSuspect waits to run alone, stateTwin for the outcome of another, and
	// stateClaimed, being no suspect, for its place in the order.
	stateSuspect
	stateTwin
	stateClaimed
	// stateEnded has its result.
	stateEnded
)

// acknowledged tells whether the message may be deleted from its queue.
func (e *entry) acknowledged() bool {
	if e.result == nil {
		return false
	}
	switch e.result.Outcome {
	case OutcomeDone, OutcomeDuplicate, OutcomeDropped:
		return true
	case OutcomeDead:
		return e.sent
	default:
		return false
	}
}

func (p *Processor) newBatch(ctx context.Context, event events.SQSEvent, begun *Result) *batch {
	b := &batch{
		Processor:  p,
		ctx:        ctx,
		invocation: newInvocation(ctx, p.options.Reserve),
		begun:      begun,
		breaker:    breaker{limit: p.options.Breaker},
		signals:    make(chan signal, p.options.Concurrency),
	}
	messages, entries := make([]Message, len(event.Records)), make([]entry, len(event.Records))
	b.entries = make([]*entry, len(entries))
	for i := range entries {
		m, e := &messages[i], &entries[i]
		m.SQSMessage, m.resolver, m.received = event.Records[i], p.resolver, b.invocation.start
		if p.options.Restore != nil {
			p.options.Restore(m)
		}
		e.message = m
		b.entries[i] = e
	}
	b.sort()
	return b
}

// sort puts first-time messages of a standard queue before redelivered ones,
// which may be what uses up the time, and before all those that have no other
// chance than this. FIFO queues keep their order.
func (b *batch) sort() {
	slices.SortStableFunc(b.entries, func(x, y *entry) int {
		if x.message.FIFO() || y.message.FIFO() {
			return 0
		}
		return b.rank(x.message) - b.rank(y.message)
	})
	for i, e := range b.entries {
		e.index = i
		if !b.options.ClaimInTurn && b.resolver.urgent(e.message) && !e.message.FIFO() {
			b.scouts = append(b.scouts, e)
		}
	}
}

func (b *batch) rank(m *Message) int {
	if b.resolver.lastReceive(m) {
		return 0
	}
	return min(m.ReceiveCount(), 2)
}

// stopped tells whether nothing more may be started in this process.
func (b *batch) stopped() bool { return b.options.Process.distrusted() != nil }

// register gives the first entry of the batch that asks for a job.
func (b *batch) register(e *entry, job, payloadHash string) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if first := b.twins[job]; first != nil {
		return first
	}
	if b.twins == nil {
		b.twins = map[string]*entry{}
	}
	e.payloadHash = payloadHash
	b.twins[job] = e
	return e
}

// carry takes a message through the chain, on a goroutine of its own: one that
// user code ends must not be the invocation's.
func (b *batch) carry(ctx context.Context, e *entry) {
	e.message.seat = &seat{batch: b, entry: e}
	ctx, cancel := context.WithCancel(withMessage(ctx, e.message))
	defer cancel()
	recovered(
		func() error { return b.seated(ctx, e.message) },
		func(err error) {
			r := b.decide(ctx, e.message, err)
			b.onError(ctx, e.message, r)
			b.signals <- signal{entry: e, result: r}
		},
	)
}

// seated runs the chain while the message shares the process's turn.
func (b *batch) seated(ctx context.Context, m *Message) error {
	if err := m.seat.take(ctx, shareSome); err != nil {
		return m.NotRun(ctx, cutOff(ctx), nil)
	}
	defer m.seat.giveBack()
	return b.chain(ctx, m)
}

// decide is the outermost word on a message. A decode error, or one of
// middleware, comes here unclassified. A Result that says nothing counts as a
// failure of the process.
func (b *batch) decide(ctx context.Context, m *Message, err error) *Result {
	r := m.Resolve(ctx, err)
	if r.Outcome == OutcomeCrash && r.Delay <= 0 && !r.Lease.IsZero() {
		r.Delay = time.Until(r.Lease)
	}
	if r.Outcome == OutcomeNone || r.Outcome == OutcomeDead && r.Failure == nil {
		return &Result{
			Outcome:  OutcomeCrash,
			Decision: fault.Decision{Reason: ReasonNoOutcome},
			Err:      r,
			Job:      m.Job,
		}
	}
	return r
}
