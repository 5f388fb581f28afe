package handler

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-lambda-go/events"
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
	cancelJobs context.CancelFunc
	entries    []*entry
	// signals are what messages tell; errands wakes the carriers that are idle.
	signals chan signal
	errands chan errand
	idle    int
	// over is closed when nobody reads signals any more, left when calls of user
	// code are not waited for any longer.
	over, left chan struct{}
	// draining is closed when nothing more is to be started; nil if nobody says.
	draining <-chan struct{}
	ending   ending
	groups   map[string]*group
	outbox   outbox
	breaker  breaker
	hung     [hookKinds]atomic.Bool
	// crash is the result of a message of this batch that has put the process in
	// doubt.
	crash *Result
	// parked are the messages that stepped aside, in the order in which they did.
	parked   []*entry
	parkedAs [stateEnded]int
	// pressing counts the suspects among them that are urgent.
	pressing int
	// running counts the messages on their way through the chain, hooking those of
	// which a hook is being told, started all that were started.
	running, hooking, started int
	// scouts are the messages that have used up half of their receives.
	scouts []*entry
	// scouting counts those of them of which it is not known yet.
	scouting int
	// frail counts the messages that are taken alone and have not been settled,
	// backwards tells in which order they are.
	frail     int
	backwards bool
	// decoded tells that all messages were, ahead of suspects.
	decoded bool
	// cursor is where the first entry is that has not been started.
	cursor int

	mu sync.Mutex
	// twins holds, by job, the entry that came first.
	twins map[string]*entry
}

type entry struct {
	message *Message
	identity
	result *Result
	state  state
	index  int
	rank   int
	// seat is the message's place while it is taken through the chain.
	seat seat
	// decided is set by whoever decides the message: its carrier, or the batch
	// that gives it up.
	decided atomic.Bool
	// frail tells that the message is taken alone, deleted that it was deleted
	// before the batch was answered.
	frail, deleted bool
	// first tells that the message is the first to be started.
	first bool
	// sent tells that the dead-letter queue has confirmed the message, unsettled
	// that its queue did not do what was asked for it.
	sent, unsettled bool
	// scout tells that the message was started before its time, to find out whether
	// it is a suspect, shown that it has been.
	scout, shown bool
	// call wakes a message that stepped aside.
	call chan string
	// follows is the entry whose outcome a twin waits for.
	follows     *entry
	payloadHash string
}

// identity is what the event said of a message, whatever user code makes of the
// message afterwards: by it the batch is kept in order and answered.
type identity struct {
	record *events.SQSMessage
	group  string
	fifo   bool
	// urgent tells that half of the receives are used up.
	urgent bool
}

// identify notes it of a message that nobody has had yet.
func (rs *resolver) identify(record *events.SQSMessage, m *Message) identity {
	return identity{record: record, group: m.GroupID(), fifo: m.FIFO(), urgent: rs.urgent(m)}
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

func (p *Processor) newBatch(ctx context.Context, event events.SQSEvent) *batch {
	b := &batch{
		Processor:  p,
		ctx:        ctx,
		invocation: newInvocation(ctx, p.options.Reserve),
		breaker:    breaker{limit: p.options.Breaker},
		signals:    make(chan signal, min(p.options.Concurrency, len(event.Records))+packsUnderWay),
		errands:    make(chan errand, min(p.options.Concurrency, len(event.Records))),
		over:       make(chan struct{}),
		left:       make(chan struct{}),
		draining:   drain(ctx),
	}
	messages, entries := make([]Message, len(event.Records)), make([]entry, len(event.Records))
	b.entries = make([]*entry, len(entries))
	for i := range entries {
		m, e := &messages[i], &entries[i]
		m.SQSMessage, m.resolver, m.received = event.Records[i], p.resolver, b.invocation.start
		e.message, e.identity = m, p.resolver.identify(&event.Records[i], m)
		b.entries[i] = e
	}
	return b
}

// sort puts first-time messages of a standard queue before redelivered ones,
// which may be what uses up the time, and before all those that have no other
// chance than this. FIFO queues keep their order.
func (b *batch) sort() {
	b.findFrail()
	sorted := b.frail == 0
	for i, e := range b.entries {
		e.rank = b.rank(e)
		sorted = sorted && (i == 0 || b.entries[i-1].rank <= e.rank)
	}
	if !sorted {
		slices.SortStableFunc(b.entries, b.compare)
	}
	for i, e := range b.entries {
		e.index = i
		if !b.options.ClaimInTurn && e.urgent && !e.fifo && !e.frail {
			b.scouts = append(b.scouts, e)
		}
	}
}

func (b *batch) rank(e *entry) int {
	switch m := e.message; {
	case e.fifo || e.frail || b.resolver.lastReceive(m):
		return 0
	default:
		return min(m.ReceiveCount(), 2)
	}
}

func (b *batch) compare(x, y *entry) int {
	if b.frail > 0 {
		return b.compareFrail(x, y)
	}
	return x.rank - y.rank
}

// stopped tells whether nothing more may be started in this process.
func (b *batch) stopped() bool { return b.options.Process.distrusted() != nil }

// afterCrash is the reason of what is not started since the process is to end.
func (b *batch) afterCrash() string {
	if b.stopped() {
		return ReasonAfterCrash
	}
	return ""
}

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
