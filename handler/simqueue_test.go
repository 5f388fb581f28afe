package handler_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// fleet is an SQS queue with its redrive policy, and the hosts that are fed by it, under
// the fake clock: environments of a Lambda function, each a process with one batch at a
// time, or the loops of one worker, which share a process and have no deadline.
type fleet struct {
	t       *testing.T
	handler handler.Handler
	options handler.Options
	// hosts is how many batches are handled at a time, batch how many messages each
	// has at most; 0 means 10.
	hosts, batch int
	// poll is how long a host waits at least where nothing is visible; 0 means 50 ms.
	poll time.Duration
	// timeout is that of the function; 0 makes the hosts loops of one worker.
	timeout     time.Duration
	visibility  time.Duration
	maxReceives int
	// store is behind all ledgers; each of its calls takes latency.
	store   idem.Store
	latency time.Duration

	mu   sync.Mutex
	jobs []*fleetJob
	// live are the messages that are in the queue, or will be, in the order in which
	// they are sent.
	live     []*fleetJob
	changed  bool // since the last receive
	order    *rand.Rand
	receipts int
	// processes counts those that were started, reports those of all batches.
	processes int
	reports   []handler.Report
	// closed ends the hosts.
	closed bool
}

// fleetJob is a message in the queue, and what became of it.
type fleetJob struct {
	id, body string
	// group makes its queue a FIFO queue.
	group string
	sent  time.Time

	visible  time.Time
	receipt  string
	receives int
	runs     int
	// gone is when it left the queue: done, or dead for a reason.
	gone time.Time
	done time.Time
	dead string
}

// wait is how long a job took from when it was sent until it was done.
func (j *fleetJob) wait() time.Duration { return j.done.Sub(j.sent) }

// send puts a job into the queue that is visible after a time.
func (f *fleet) send(after time.Duration, body string) *fleetJob {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := time.Now().Add(after)
	j := &fleetJob{id: fmt.Sprintf("j%04d", len(f.jobs)), body: body, sent: at, visible: at}
	f.jobs = append(f.jobs, j)
	f.live = append(f.live, j)
	return j
}

// run lets the hosts work until the queue is empty, or the time is over.
func (f *fleet) run(limit time.Duration) {
	f.t.Helper()
	f.hosts, f.batch, f.order = max(f.hosts, 1), cmp.Or(f.batch, 10), rand.New(rand.NewPCG(5, *simSeed))
	if f.visibility == 0 {
		f.visibility = max(6*f.timeout, time.Minute)
	}
	if f.store == nil {
		f.store = idem.NewMemory()
	}
	deadline := time.Now().Add(limit)
	var shared *handler.Processor
	if f.timeout == 0 {
		shared = f.process()
	}
	var all sync.WaitGroup
	for i := range f.hosts {
		all.Go(func() {
			<-time.After(time.Duration(i) * 137 * time.Millisecond) // no two of them in step
			p := shared
			for {
				if p == nil {
					p = f.process()
				}
				batch := f.receive(deadline)
				if batch == nil {
					return
				}
				p = f.invoke(p, batch)
			}
		})
	}
	all.Wait()
}

func (f *fleet) process() *handler.Processor {
	f.mu.Lock()
	f.processes++
	f.mu.Unlock()
	o := f.options
	ledger := must(idem.New(lateStore{f.store, f.latency}, &idem.Options{Logger: noLog}))
	o.Ledger, o.DeadLetter, o.Queue, o.MaxReceives = ledger, f, f, f.maxReceives
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Hooks.OnBatch = func(_ context.Context, r handler.Report) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.reports = append(f.reports, r)
	}
	return newProcessor(counted{f.handler, f}, &o)
}

// counted counts the runs of jobs, and notes when they were done.
type counted struct {
	handler.Handler
	fleet *fleet
}

func (c counted) Prepare(ctx context.Context, m *handler.Message) (func(context.Context) error, error) {
	work, err := c.Handler.Prepare(ctx, m)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		j := c.fleet.job(m.MessageId)
		c.fleet.mu.Lock()
		j.runs++
		c.fleet.mu.Unlock()
		err := work(ctx)
		if err == nil {
			c.fleet.mu.Lock()
			j.done = time.Now()
			c.fleet.mu.Unlock()
		}
		return err
	}, nil
}

func (f *fleet) job(id string) *fleetJob {
	n, _ := strconv.Atoi(id[1:])
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs[n]
}

// lateStore takes a time for each call.
type lateStore struct {
	idem.Store
	latency time.Duration
}

func (s lateStore) wait() {
	if s.latency > 0 {
		<-time.After(s.latency)
	}
}

func (s lateStore) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	s.wait()
	return s.Store.Acquire(ctx, r)
}

func (s lateStore) Settle(ctx context.Context, c idem.Claim, end idem.Settlement) error {
	s.wait()
	return s.Store.Settle(ctx, c, end)
}

// receive waits for visible messages; nil when there is nothing more to do.
func (f *fleet) receive(deadline time.Time) []*fleetJob {
	poll := cmp.Or(f.poll, 50*time.Millisecond)
	for {
		now := time.Now()
		batch, next, over := f.take(now)
		switch {
		case len(batch) > 0:
			return batch
		case over || !now.Before(deadline):
			return nil
		}
		<-time.After(max(poll, min(time.Until(next), time.Minute)))
	}
}

func (f *fleet) take(now time.Time) (batch []*fleetJob, next time.Time, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed {
		f.live = slices.DeleteFunc(f.live, func(j *fleetJob) bool { return !j.gone.IsZero() })
		f.changed = false
	}
	var visible []*fleetJob
	locked := map[string]bool{} // groups with a message in flight
	for _, j := range f.live {
		if j.group != "" && j.receives > 0 && j.visible.After(now) {
			locked[j.group] = true
		}
	}
	for _, j := range f.live {
		if locked[j.group] && !j.visible.After(now) {
			continue
		}
		if j.visible.After(now) {
			if next.IsZero() || j.visible.Before(next) {
				next = j.visible
			}
			if j.receives == 0 {
				break // those behind it are sent later
			}
			continue
		}
		visible = append(visible, j)
	}
	if !slices.ContainsFunc(visible, func(j *fleetJob) bool { return j.group != "" }) {
		f.order.Shuffle(len(visible), func(i, k int) { visible[i], visible[k] = visible[k], visible[i] })
	}
	for _, j := range visible {
		if len(batch) == f.batch {
			break
		}
		if f.maxReceives > 0 && j.receives >= f.maxReceives {
			f.leave(j)
			j.dead = "moved by SQS"
			continue
		}
		f.receipts++
		j.receives++
		j.receipt = fmt.Sprint("r", f.receipts)
		j.visible = now.Add(f.visibility)
		if f.timeout == 0 { // a worker keeps its messages hidden
			j.visible = now.Add(24 * time.Hour)
		}
		batch = append(batch, j)
	}
	return batch, next, len(f.live) == 0 || f.closed
}

func (f *fleet) leave(j *fleetJob) {
	if j.gone.IsZero() {
		j.gone, f.changed = time.Now(), true
	}
}

// invoke handles a batch and gives the process for the next; nil for a new one.
func (f *fleet) invoke(p *handler.Processor, batch []*fleetJob) *handler.Processor {
	records := make([]events.SQSMessage, len(batch))
	f.mu.Lock()
	for i, j := range batch {
		r := received(j.receives, record(j.id, j.body))
		if j.group != "" {
			r = grouped(j.group, r)
		}
		r.ReceiptHandle = j.receipt
		r.Attributes["SentTimestamp"] = strconv.FormatInt(j.sent.UnixMilli(), 10)
		records[i] = r
	}
	f.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	if f.timeout > 0 {
		ctx, cancel = context.WithTimeout(context.Background(), f.timeout)
	}
	defer cancel()
	response, crashed := end(ctx, p, records)
	if crashed || response == nil {
		if f.timeout == 0 {
			f.t.Error("the worker's process crashed")
		}
		return nil
	}
	back := reported(*response)
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, j := range batch {
		switch {
		case slices.Contains(back, j.id):
			if f.timeout == 0 && time.Until(j.visible) > 12*time.Hour {
				j.visible = time.Now().Add(f.visibility) // nobody has changed it
			}
		case j.receipt == records[i].ReceiptHandle:
			f.leave(j)
		}
	}
	return p
}

var errNoMessage = errors.New("no message has this receipt")

// byReceipt is the message in flight with that handle; nil if there is none.
func (f *fleet) byReceipt(m *handler.Message) *fleetJob {
	n, _ := strconv.Atoi(m.MessageId[1:])
	if j := f.jobs[n]; j.receipt == m.ReceiptHandle && j.gone.IsZero() {
		return j
	}
	return nil
}

// ChangeVisibility implements handler.Queue.
func (f *fleet) ChangeVisibility(_ context.Context, changes []handler.VisibilityChange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range changes {
		c := &changes[i]
		if j := f.byReceipt(c.Message); j != nil {
			j.visible, c.Done = time.Now().Add(c.Timeout), true
		} else {
			c.Err = errNoMessage
		}
	}
}

// Delete implements handler.Queue.
func (f *fleet) Delete(_ context.Context, deletions []handler.Deletion) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range deletions {
		d := &deletions[i]
		if j := f.byReceipt(d.Message); j != nil {
			f.leave(j)
			d.Done = true
		} else {
			d.Err = errNoMessage
		}
	}
}

// Send implements handler.DeadLetter.
func (f *fleet) Send(_ context.Context, letters []handler.Letter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range letters {
		l := &letters[i]
		l.DeadLetterID = "dead-" + l.Message.MessageId
		n, _ := strconv.Atoi(l.Message.MessageId[1:])
		f.jobs[n].dead = l.Failure.Reason
	}
}

// requireDone stops the test unless all jobs of which want says so are done.
func (f *fleet) requireDone(want func(j *fleetJob) bool) {
	f.t.Helper()
	bad := 0
	for _, j := range f.jobs {
		if want(j) && (j.done.IsZero() || j.dead != "") {
			if bad++; bad <= 5 {
				f.t.Errorf("%s (%s): done %v, dead %q, %d runs, %d receives",
					j.id, j.body, !j.done.IsZero(), j.dead, j.runs, j.receives)
			}
		}
	}
	if bad > 0 {
		f.t.Fatalf("%d of %d jobs are not done (-simseed %d)", bad, len(f.jobs), *simSeed)
	}
}

// waits gives the median, the 99th percentile and the longest of the waits of jobs.
func (f *fleet) waits(of func(j *fleetJob) bool) (median, p99, most time.Duration) {
	var waits []time.Duration
	for _, j := range f.jobs {
		if of(j) && !j.done.IsZero() {
			waits = append(waits, j.wait())
		}
	}
	slices.Sort(waits)
	if len(waits) == 0 {
		return 0, 0, 0
	}
	return waits[len(waits)/2], waits[len(waits)*99/100], waits[len(waits)-1]
}

// counted gives how many deliveries had an outcome for a reason; "" stands for any.
func (f *fleet) count(outcome handler.Outcome, reason string) int {
	n := 0
	for _, r := range f.reports {
		for _, c := range r.Counts {
			if c.Outcome == outcome && (reason == "" || c.Reason == reason) {
				n += c.N
			}
		}
	}
	return n
}

func anyJob(*fleetJob) bool { return true }
