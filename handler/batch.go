package handler

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/fault"
)

// batch is one invocation: the messages in the order in which they run, and
// what became of each.
type batch struct {
	*Processor
	ctx        context.Context
	invocation *invocation
	entries    []*entry
	// groups holds, of each FIFO group that may not go on, the entry in its way.
	groups map[string]*entry
	// crash is the result after which nothing more is started; nil without one.
	crash *Result
}

type entry struct {
	message *Message
	result  *Result
	// sent tells that the dead-letter queue has confirmed the message.
	sent bool
}

// acknowledged tells whether the message may be deleted from its queue.
func (e *entry) acknowledged() bool {
	if e.result == nil {
		return false
	}
	switch e.result.Outcome {
	case OutcomeDone, OutcomeDuplicate:
		return true
	case OutcomeDead:
		return e.sent
	default:
		return false
	}
}

func (p *Processor) newBatch(ctx context.Context, event events.SQSEvent) *batch {
	b := &batch{
		Processor:  p,
		ctx:        ctx,
		invocation: newInvocation(ctx, p.options.Reserve),
		groups:     map[string]*entry{},
	}
	for _, record := range event.Records {
		m := &Message{SQSMessage: record, resolver: p.resolver, received: b.invocation.start}
		b.entries = append(b.entries, &entry{message: m})
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
		return b.turn(x.message) - b.turn(y.message)
	})
}

func (b *batch) turn(m *Message) int {
	if b.resolver.lastReceive(m) {
		return 0
	}
	return min(m.ReceiveCount(), 2)
}

func (b *batch) run() {
	for i, e := range b.entries {
		e.result = b.skip(i, e)
		if e.result == nil {
			e.result = b.runOne(e.message)
		}
		if e.result.Outcome == OutcomeCrash {
			b.crash = e.result
		}
		b.log(e)
		if e.message.FIFO() {
			b.holdGroup(e)
		}
	}
}

// skip decides whether a message may start; nil says that it may. The first
// always may, since with a short timeout none would ever run.
func (b *batch) skip(i int, e *entry) *Result {
	switch {
	case b.crash != nil:
		return e.message.Unrun(ReasonAfterCrash, nil)
	case b.groups[e.message.GroupID()] != nil:
		r := e.message.Unrun(ReasonGroupHead, nil)
		r.Delay = b.groups[e.message.GroupID()].result.Delay
		return r
	case b.ctx.Err() == context.Canceled || isDraining(b.ctx):
		return e.message.Unrun(ReasonCancelled, nil)
	case i > 0 && b.invocation.over():
		return e.message.Unrun(ReasonNoTime, nil)
	}
	return nil
}

// runOne takes a message through the chain, on a goroutine of its own: one that
// user code ends must not be the invocation's.
func (b *batch) runOne(m *Message) *Result {
	ctx, cancel := b.invocation.messageContext(b.ctx)
	defer cancel()
	result := make(chan *Result, 1)
	go recovered(
		func() error { return b.chain(ctx, m) },
		func(err error) { result <- b.decide(ctx, m, err) },
	)
	return <-result
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

// holdGroup lets the rest of a FIFO group run only when e is out of its way: a
// dead message counts once the dead-letter queue has it.
func (b *batch) holdGroup(e *entry) {
	if e.result.Outcome == OutcomeDead {
		b.sendDead([]*entry{e})
	}
	if !e.acknowledged() && b.groups[e.message.GroupID()] == nil {
		b.groups[e.message.GroupID()] = e
	}
}
