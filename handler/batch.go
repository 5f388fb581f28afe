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

const (
	// slowClaim is how long later deliveries wait for the claim of an earlier one.
	slowClaim = time.Second
	// quietTime is how long a job with an unsettled claim waits until nothing of the
	// process is settling.
	quietTime = 5 * time.Second
	// loneTime is how long a run that is alone keeps other invocations out.
	loneTime = time.Minute
	// stallTime is how long deliveries wait there while no slot becomes free.
	stallTime = 30 * time.Second
)

// maxIdle is how many tasks may wait for a worker that is about to be idle.
const maxIdle = 64

const (
	// packLetters and packBytes are what one call to SQS takes: 10 messages of
	// 1,048,576 bytes in all (SQS quotas).
	packLetters = 10
	packBytes   = 1 << 20
	// packWait is how long a letter waits for others to fill its pack. A job beside it may
	// run for hours, and the lease of the letter ends before.
	packWait = time.Second
	// packsUnderWay bounds the calls to the dead-letter queue.
	packsUnderWay = 4
	// confirmsUnderWay bounds the confirming writes that follow one call.
	confirmsUnderWay = 8
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
	// draining is closed when nothing more is to start; nil if nobody says. Ended tells
	// the host that a delivery has its outcome.
	draining <-chan struct{}
	ended    func()

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

// times are the points in time that a batch waits for; zero for none.
type times struct {
	// late, cut and left report which stages have passed.
	late, cut, left bool
	// lastStart is when the last job may start; it moves as runs get longer.
	lastStart time.Time
	// hold is when a suspect has waited long enough, lone when a lone run keeps
	// nobody out any more, quiet when a quiet start is tried again in any case.
	hold, lone, quiet time.Time
	// lastFreed is when a slot became free.
	lastFreed time.Time
	// claiming are the deliveries whose claims are under way, in their order.
	claiming []*delivery
	// next is what the timer is set to.
	next time.Time
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
	// counted is closed when the count of a lone run has been taken back; nil if it is not.
	counted <-chan struct{}
	// told is closed when OnError has been called for it; nil if it is not to be.
	told <-chan struct{}
	// sent reports whether its dead letter has arrived, failed whether SQS did not do
	// what was asked.
	sent, failed bool
}

// acknowledged reports whether the message may be deleted from its queue.
func (d *delivery) acknowledged() bool {
	switch d.result.Outcome {
	case OutcomeDone, OutcomeDuplicate, OutcomeDropped:
		return true
	case OutcomeDead:
		return d.sent
	default:
		return false
	}
}

// leaseEnd is until when a letter may be sent; zero without a limit.
func (d *delivery) leaseEnd() time.Time {
	if d.claim == nil {
		return time.Time{}
	}
	return d.claim.Lease()
}

// clockMargin is what a ledger takes off its leases for the difference of two clocks.
const clockMargin = 2 * time.Second

// claimEnd is from when another delivery may have the job; zero without a limit.
func (d *delivery) claimEnd() time.Time {
	lease := d.leaseEnd()
	if lease.IsZero() {
		return lease
	}
	return lease.Add(clockMargin)
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
		ended:          host.Ended(ctx),
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

// takePosted takes in what has happened by now, since the loop may have been held up, as
// by a log that is slow.
func (b *batch) takePosted() {
	for {
		select {
		case e := <-b.events:
			b.take(e)
		default:
			return
		}
	}
}

// outbox gathers dead letters and sends them in packs while other messages run.
type outbox struct {
	waiting []*delivery
	bytes   int
	// since is when the first of those that wait was added.
	since   time.Time
	sending int
}

func (o *outbox) isEmpty() bool { return len(o.waiting) == 0 && o.sending == 0 }

// add puts a letter into the outbox. The next call of flushLetters sends it.
func (o *outbox) add(d *delivery) {
	if len(o.waiting) == 0 {
		o.since = time.Now()
	}
	o.waiting = append(o.waiting, d)
	o.bytes += len(d.message.Body)
}

func (o *outbox) full() bool { return len(o.waiting) >= packLetters || o.bytes >= packBytes }

// due is when the letters that wait go out in any case; zero if none can.
func (o *outbox) due() time.Time {
	if len(o.waiting) == 0 || o.sending == packsUnderWay {
		return time.Time{}
	}
	return o.since.Add(packWait)
}

// pack takes out what fits into one call, and at least one letter.
func (o *outbox) pack() []*delivery {
	n, bytes := 0, 0
	for n < min(len(o.waiting), packLetters) {
		size := len(o.waiting[n].message.Body)
		if n > 0 && bytes+size > packBytes {
			break
		}
		bytes += size
		n++
	}
	pack := o.waiting[:n:n]
	o.waiting, o.bytes = o.waiting[n:], o.bytes-bytes
	return pack
}

// hider makes failed messages come back after their delay. In an invocation with a
// deadline that is done at its end, in as few calls as possible. Without one, another
// job of the batch may run for hours, so that each message is hidden at once.
type hider struct {
	waiting []*delivery
	// calls is the number of calls under way.
	calls int
}

// add notes a message that is to come back. Delay 0 leaves the queue's own visibility
// timeout in force.
func (h *hider) add(b *batch, d *delivery) {
	if b.options.Queue != nil && d.result.Delay > 0 {
		h.waiting = append(h.waiting, d)
	}
}

// comingBack has the ids of which not every message is acknowledged. The watchdog
// calls it too, while the batch may still be at work.
func (b *batch) comingBack() map[string]bool {
	back := map[string]bool{}
	for _, d := range b.deliveries {
		if !d.acked.Load() {
			back[d.record.MessageId] = true
		}
	}
	return back
}
