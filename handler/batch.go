package handler

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/host"
	"github.com/sqsafe/sqsafe/internal/runqueue"
)

const (
	// claimsAhead is how many first deliveries are claimed before a slot is free.
	claimsAhead = 10
	// minUnsettled is how many settles may at least be unanswered when a job starts.
	minUnsettled = 10
	// eventBuffer lets goroutines go on while the loop is busy.
	eventBuffer = 64
)

// batch is one invocation. All of it belongs to the goroutine of run, which reads
// what other goroutines post to events, unless said otherwise.
type batch struct {
	*Processor
	ctx   context.Context
	table deadline.Table
	// start and end are those of the invocation; end is zero without a deadline.
	start, end time.Time
	// jobs is the context of all runs: it ends at the cut.
	jobs       context.Context
	cancelJobs context.CancelCauseFunc

	deliveries []*delivery
	queue      *runqueue.Queue
	letters    outbox
	hider      hider
	// events carries what happens from other goroutines to the loop. Over is closed
	// when nobody reads it any more.
	events chan event
	over   chan struct{}
	// tasks hands work to idle workers.
	tasks chan func()
	idle  int
	// hurry is closed by a crash.
	hurry chan struct{}
	// processChanged says that the process may be free.
	processChanged invocation
	// draining is closed when nothing more is to start; nil if nobody says.
	draining <-chan struct{}

	times times
	timer *time.Timer
	// asking is the suspect that asks for the process, -1 for none; holding reports
	// whether it keeps others back meanwhile.
	asking  int
	holding bool
	// heads are the deliveries whose failure sent the rest of their FIFO group home.
	heads map[int]*delivery
	// hooking counts hooks under way.
	hooking int
	// crash is the result of the delivery that makes the process end.
	crash *Result
	// stopping reports whether the host has cancelled the batch.
	stopping bool
}

// phase is what user code is at work on for a delivery.
type phase uint8

const (
	phaseNone phase = iota
	phaseDecoding
	phaseRunning
)

// delivery is one message on its way through a batch.
type delivery struct {
	index int
	// record is the message as it came, and message what stages made of it.
	record  *events.SQSMessage
	message *Message
	group   int

	// run is nil before the decoding.
	run      *run
	firstRun run
	claim    Claim
	// job is what the ledger said of the job, and no user code has in its hands.
	job   Job
	phase phase
	// claimedAt is when the claim was asked for, quietSince when a quiet start was
	// first refused.
	claimedAt, quietSince time.Time
	// probe reports whether it runs although the breaker is open.
	probe bool

	result *Result
	// acked reports whether the message may be deleted. The watchdog reads it too.
	acked atomic.Bool
	// atWork and settling are how the process counts it.
	atWork, settling bool
	// alone reports whether its run is alone and a crash counted, left whether a
	// goroutine of user code was left behind.
	alone, left bool
	// told is closed when OnError has been called for it; nil if it is not to be.
	told <-chan struct{}
	// sent reports whether its dead letter has arrived, failed whether SQS did not do
	// what was asked.
	sent, failed bool
}

func (p *Processor) newBatch(ctx context.Context, in events.SQSEvent) *batch {
	start := time.Now()
	end, _ := ctx.Deadline()
	b := &batch{
		Processor: p, ctx: ctx, start: start, end: end, asking: -1,
		table:          deadline.New(start, end, p.options.Reserve),
		events:         make(chan event, min(eventBuffer, 2*len(in.Records)+1)),
		over:           make(chan struct{}),
		hurry:          make(chan struct{}),
		tasks:          make(chan func(), min(maxIdle, 2*len(in.Records)+1)),
		processChanged: make(invocation, 1),
		draining:       host.Draining(ctx),
	}
	b.times.lastFreed = start
	deliveries, messages := make([]delivery, len(in.Records)), make([]Message, len(in.Records))
	b.deliveries = make([]*delivery, len(in.Records))
	known := make([]runqueue.Delivery, len(in.Records))
	groups := map[string]int{}
	for i := range in.Records {
		record, m, d := &in.Records[i], &messages[i], &deliveries[i]
		*m = Message{SQSMessage: *record, limits: p.resolver, received: start}
		d.index, d.record, d.message = i, record, m
		if m.FIFO() {
			d.group = number(groups, m.GroupID())
		}
		b.deliveries[i] = d
		known[i] = runqueue.Delivery{Receives: m.ReceiveCount(), Group: d.group}
	}
	b.queue = runqueue.New(known, p.queueConfig())
	return b
}

// number returns the number of a FIFO group, from 1.
func number(groups map[string]int, name string) int {
	n, known := groups[name]
	if !known {
		n = len(groups) + 1
		groups[name] = n
	}
	return n
}

func (p *Processor) queueConfig() runqueue.Config {
	o := &p.options
	c := runqueue.Config{
		Slots: o.Concurrency, Unsettled: max(minUnsettled, 2*o.Concurrency), Unsent: packLetters * packsUnderWay,
		MaxReceives: o.MaxReceives, Ledger: o.Ledger != nil,
	}
	if o.AwaitSettle {
		c.Unsettled = 1
	}
	if o.Ledger != nil && o.Ledger.Ahead() {
		c.Ahead = claimsAhead
	}
	return c
}

// run takes all deliveries to their outcome, and tells SQS what is to be told.
func (b *batch) run() {
	defer close(b.over)
	defer close(b.tasks)
	b.begin()
	defer b.timer.Stop()
	for {
		b.perform()
		if b.queue.Idle() && b.letters.isEmpty() {
			break
		}
		b.listen()
	}
	b.cancelJobs(nil)
	b.hideAll()
	if b.crash != nil {
		b.deleteFinished()
		b.logCrash(b.crash.Err)
	}
	for b.hooking > 0 {
		b.take(<-b.events)
	}
	b.onBatch()
}

func (b *batch) begin() {
	jobs := b.ctx
	stop := context.CancelFunc(func() {})
	if b.table.Bounded() {
		jobs, stop = context.WithDeadline(jobs, b.table.At(deadline.Cut))
	}
	var cancel context.CancelCauseFunc
	b.jobs, cancel = context.WithCancelCause(jobs)
	b.cancelJobs = func(cause error) { cancel(cause); stop() }
	b.timer = time.NewTimer(time.Hour)
	b.timer.Stop()
	b.times.lastStart = b.table.LastStart(b.process.longest())
	if b.process.poisoned() != nil {
		b.queue.Poison()
	}
	b.passTime(b.start)
	if b.ctx.Err() == context.Canceled {
		b.onCancelled()
	}
	if b.table.Bounded() && len(b.deliveries) > 0 && !b.start.Before(b.table.End()) {
		b.warnOfPastDeadline()
	}
}

// event is what has happened on another goroutine.
type event struct {
	take func()
	// idle reports whether a worker has done its task.
	idle bool
}

// post hands an event to the loop, if it still reads.
func (b *batch) post(e event) {
	select {
	case b.events <- e:
	case <-b.over:
	}
}

// take takes an event in.
func (b *batch) take(e event) {
	if e.idle && b.idle < cap(b.tasks) {
		b.idle++
	}
	e.take()
}

// listen waits for what happens next, and takes it in.
func (b *batch) listen() {
	b.setTimer()
	cancelled := b.ctx.Done()
	if b.stopping || b.times.cut {
		cancelled = nil
	}
	select {
	case e := <-b.events:
		b.take(e)
	case <-b.processChanged:
		b.onProcessChanged()
	case <-b.draining:
		b.draining = nil
		b.queue.Drain()
	case <-cancelled:
		b.onCancelled()
	case <-b.timer.C:
		b.times.next = time.Time{}
		b.passTime(time.Now())
	}
}
