package handler

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/host"
	"github.com/sqsafe/sqsafe/internal/runqueue"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

const (
	// claimsAhead is how many first deliveries are claimed before they have a slot.
	claimsAhead = 10
	// minUnsettled is the least limit on unanswered settle writes. At the limit no job
	// starts.
	minUnsettled = 10
)

const (
	// slowClaim is how long later deliveries wait for the claim of an earlier one.
	slowClaim = time.Second
	// quietTime is how long a job with an unsettled claim waits at most until nothing in
	// the process is settling.
	quietTime = 5 * time.Second
	// loneTime is how long a lone run keeps other invocations from starting runs.
	loneTime = time.Minute
	// deleteTime is how long a done message may wait for the end of its batch if there is
	// no deadline. Then the processor deletes it.
	deleteTime = 5 * time.Second
	// stallTime is how long deliveries wait for a free slot if there is no deadline.
	stallTime = 30 * time.Second
)

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
	// confirmsUnderWay bounds the confirming writes that follow one call: all of a pack, so
	// that a pack takes one round trip for them.
	confirmsUnderWay = packLetters
)

// batch is one invocation. Its fields belong to the goroutine that is in the event loop,
// unless their comment says otherwise. Other goroutines post events to the loop.
type batch struct {
	*Processor
	ctx context.Context
	// table is replaced and never changed, since runs and other goroutines have it too.
	table *deadline.Table
	// start and end are those of the invocation; end is zero without a deadline.
	start, end time.Time
	// jobs is the parent context of all runs. It ends at deadline.Cut.
	jobs       context.Context
	cancelJobs context.CancelFunc

	deliveries []*delivery
	queue      *runqueue.Queue
	letters    outbox
	hider      hider
	// workers run tasks, and the event loop. ending reports whether all deliveries have ended.
	// over is closed at the end of the batch; failed is a panic of the engine itself, nil if
	// there was none.
	workers pool
	ending  bool
	over    chan struct{}
	failed  *usercall.Panic
	// own is the next task of the worker in the loop.
	own task
	// hurry is closed by the first crash; nil if there is a deadline.
	hurry chan struct{}
	// processChanged receives a value when the process may let deliveries start again.
	processChanged invocation
	// draining is closed when no more jobs may start; nil if the host does not drain.
	// ended reports to the host that a delivery has its outcome.
	draining <-chan struct{}
	ended    func(messageID string)

	writes writes
	times  times
	timer  *time.Timer
	// asking is the index of the suspect that waits to run alone; -1 for none. holding
	// reports whether other deliveries may not start while it waits.
	asking  int
	holding bool
	// heads has the first failed delivery of each FIFO group. The later deliveries of the
	// group were deferred because of it.
	heads map[int]*delivery
	// held are the deliveries that were claimed before their turn in their FIFO group.
	held []*delivery
	// runningHooks counts the running hooks.
	runningHooks int
	// crash is the result of the first crash; nil if there was none.
	crash *Result
	// stopping reports whether the host has cancelled the batch.
	stopping bool
}

// writes has the context of writes to the ledger, which ends at until. cancels are of this
// context and of earlier ones, under which writes may be under way.
type writes struct {
	ctx     context.Context
	until   time.Time
	cancels []context.CancelFunc
}

// times are the points in time at which the loop has to act; zero for none.
type times struct {
	// late, hopeless, cut and abandoned report whether lastStart, lastChance, deadline.Cut
	// and deadline.Leave have passed.
	late, hopeless, cut, abandoned bool
	// lastStart is when the last job may start, lastChance when the last one at its last
	// receive may: by the longest and the shortest of the last runs. They move as runs take
	// longer, or less time.
	lastStart, lastChance time.Time
	// hold is when a suspect stops waiting for an idle process. lone is when a lone run
	// stops keeping others from starting. quiet is when a delivery with an unsettled
	// claim starts even if others are settling.
	hold, lone, quiet time.Time
	// lastFreed is when a slot last became free.
	lastFreed time.Time
	// claiming are the deliveries with a pending claim request, oldest first.
	claiming []*delivery
	// next is the time that the timer is set to.
	next time.Time
}

// phase is the kind of user code that runs for a delivery.
type phase uint8

const (
	phaseNone phase = iota
	phaseDecoding
	phaseRunning
)

// delivery is one received message of a batch and its state.
type delivery struct {
	index int
	// record is the message as received. message is the copy that middleware and decoding
	// may change.
	record  *events.SQSMessage
	message *Message
	group   int

	// run is nil before the decoding.
	run      *run
	firstRun run
	claim    Claim
	// job is the job state that the ledger returned. User code cannot change it.
	job   Job
	phase phase
	// claimedAt is when the claim was requested. quietSince is when its start was first
	// refused because others were settling.
	claimedAt, quietSince time.Time
	// probe reports whether it runs although the breaker is open.
	probe bool

	result *Result
	// took is how long the run took, endedAt when the result was known; for the report.
	took    time.Duration
	endedAt time.Time
	// acked reports whether the message may be deleted. The watchdog reads it on another
	// goroutine.
	acked atomic.Bool
	// active and settling are how the process counts it.
	active, settling bool
	// alone reports whether its run is alone and its crash is counted in advance,
	// abandoned whether its user code did not return in time, noVerdict whether its dead
	// letter then goes out without a verdict in the ledger.
	alone, abandoned, noVerdict bool
	// counted is closed when the count of a lone run has been taken back; nil if it is not.
	counted <-chan struct{}
	// onErrorDone is closed when OnError has returned; nil if it is not called.
	onErrorDone <-chan struct{}
	// goOn goes on with a claim that was made before its turn; nil if it is not held.
	goOn event
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

// leaseEnd returns the time until which a letter may be sent; zero for no limit.
func (d *delivery) leaseEnd() time.Time {
	if d.claim == nil {
		return time.Time{}
	}
	return d.claim.Lease()
}

// claimEnd returns the time from which another delivery may claim the job; zero for no
// limit. A ledger subtracts the margin from its leases.
func (d *delivery) claimEnd() time.Time {
	lease := d.leaseEnd()
	if lease.IsZero() {
		return lease
	}
	return lease.Add(deadline.ClockMargin)
}

func (p *Processor) newBatch(ctx context.Context, in events.SQSEvent) *batch {
	start := time.Now()
	end, _ := ctx.Deadline()
	table := deadline.New(start, end, p.options.Reserve)
	b := &batch{
		Processor: p, ctx: ctx, table: &table, start: start, end: end, asking: -1,
		over:           make(chan struct{}),
		timer:          time.NewTimer(time.Hour),
		processChanged: make(invocation, 1),
		draining:       host.Draining(ctx),
		ended:          host.Ended(ctx),
	}
	b.timer.Stop()
	if !b.table.Bounded() {
		b.hurry = make(chan struct{})
	}
	b.times.lastFreed = start
	deliveries, messages := make([]delivery, len(in.Records)), make([]Message, len(in.Records))
	b.deliveries = make([]*delivery, len(in.Records))
	known := make([]runqueue.Delivery, len(in.Records))
	groups := map[string]int{}
	for i := range in.Records {
		record, m, d := &in.Records[i], &messages[i], &deliveries[i]
		d.index, d.record, d.message = i, record, m
		*m = b.received(d)
		if m.FIFO() {
			d.group = number(groups, m.GroupID())
		}
		b.deliveries[i] = d
		known[i] = runqueue.Delivery{Receives: m.ReceiveCount(), Group: d.group}
	}
	b.queue = runqueue.New(known, p.queueConfig())
	return b
}

// received returns the message of a delivery as it was received.
func (b *batch) received(d *delivery) Message {
	return Message{SQSMessage: *d.record, limits: b.resolver, received: b.start}
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

// handlePosted handles all events that were posted so far. The loop may have been blocked,
// for example by a slow logger.
func (b *batch) handlePosted() {
	for e, ok := b.workers.take(); ok; e, ok = b.workers.take() {
		e()
	}
}

// outbox collects dead letters and sends them in batch calls (packs) while other messages
// run.
type outbox struct {
	waiting []*delivery
	bytes   int
	// since is when the oldest waiting letter was added.
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

// due returns the time at which the waiting letters are sent even if they do not fill a
// pack; zero if none wait or no call may start.
func (o *outbox) due() time.Time {
	if len(o.waiting) == 0 || o.sending == packsUnderWay {
		return time.Time{}
	}
	return o.since.Add(packWait)
}

// pack removes and returns the letters that fit into one call, at least one.
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

// hider changes the visibility timeout of failed messages, so that each becomes visible
// after its delay. With a deadline this happens at the end of the batch, in as few calls
// as possible. Without one another job may run for hours, so each message is hidden at
// once. For the same reason done messages are deleted then and not left to the host.
type hider struct {
	waiting []*delivery
	// done are acknowledged messages that are not deleted yet, the first since doneAt.
	done   []*delivery
	doneAt time.Time
	// calls is the number of calls under way.
	calls int
}

// add queues a message to be hidden. Delay 0 leaves the queue's own visibility timeout in
// force.
func (h *hider) add(b *batch, d *delivery) {
	if b.options.Queue != nil && d.result.Delay > 0 {
		h.waiting = append(h.waiting, d)
	}
}

// addDone queues an acknowledged message to be deleted, if the batch goes on.
func (h *hider) addDone(b *batch, d *delivery) {
	if b.options.Queue == nil || b.table.Bounded() {
		return
	}
	if len(h.done) == 0 {
		h.doneAt = time.Now()
	}
	h.done = append(h.done, d)
}

// deleteAt is when done messages are deleted; zero if there are none.
func (h *hider) deleteAt() time.Time {
	if len(h.done) == 0 {
		return time.Time{}
	}
	return h.doneAt.Add(deleteTime)
}

// comingBack returns the ids of all messages that are not acknowledged. The watchdog
// calls it too, while the batch may still run.
func (b *batch) comingBack() map[string]bool {
	var back map[string]bool
	for _, d := range b.deliveries {
		if d.acked.Load() {
			continue
		}
		if back == nil {
			back = map[string]bool{}
		}
		back[d.record.MessageId] = true
	}
	return back
}
