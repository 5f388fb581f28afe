package handlertest

import (
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/bubble"
)

// Queue is an SQS queue in memory and the Lambda function that is fed by it. Each
// call of [Queue.Run] and [Queue.Invoke] has a queue of its own, that begins
// empty; what it shares with others is what Handler and Options share.
type Queue struct {
	// Handler is the function; required.
	Handler handler.Handler
	// Options are those of the function's handler.Processor, of which each new
	// process makes its own. Here some of them have other defaults:
	//
	//   - DeadLetter: nil means that dead letters arrive. One that is set is asked,
	//     and a letter that it does not confirm has not arrived.
	//   - Queue: nil means that the queue does what it is asked for. One that is set
	//     is asked before, and what it has an error for is not done.
	//   - Logger: nil means the log of the test, seen when it fails.
	//   - Random: nil means 0, which makes each delay the shortest of its range.
	//   - Restore: nil means that records of [Message].Replay are read.
	//   - Ledger: it hears nothing from a process after its [Kill]. So that a test runs
	//     the same way each time, no job is claimed before it can run, and AwaitSettle is
	//     set: with Concurrency 1 messages run in the order of their batch.
	//
	// MaxReceives is the maxReceiveCount of the queue's redrive policy too; 0 means
	// that it has none.
	Options handler.Options
	// Name is the queue's; empty means "jobs". One that ends in .fifo makes it a
	// FIFO queue.
	Name string
	// BatchSize is the most messages of one event; 0 means 10.
	BatchSize int
	// Timeout is how long an invocation may take; 0 means 30 s.
	Timeout time.Duration
	// Visibility is the queue's visibility timeout; 0 means six times Timeout, as
	// AWS advises. A message whose visibility timeout ends while its batch is still
	// being handled is handed out again afterwards, with the next batch, whatever
	// became of it: the acknowledgement came too late. See [Delivery].Late.
	Visibility time.Duration
	// Retention is how long the queue keeps a message; 0 means 4 days.
	Retention time.Duration
}

// Run sends the messages, and invokes the function until the queue is empty, one
// batch after the other. It reports what became of the messages.
//
// It opens a bubble of package synctest, or runs in that of its caller, so the
// handler and what it uses must not wait for anything outside, such as a real
// connection. What they use may be made before and outside, unless it has
// channels, timers or tickers. A wait for something outside stops the bubble's clock.
// In a bubble that Run opens, it is found after 10 s of real time, or a minute if it is
// no connection: Run panics with the stacks of those that wait. In a bubble of the
// caller the test hangs. A handler that was left behind is waited for, for a
// day of the bubble's time: one that never returns fails the test.
//
// The function's process ends when its processor panics, or by [Kill], and a new
// one is there for the next batch. The test ends with a failure of the handler's
// checks: Run looks for one after each batch.
func (q Queue) Run(t *testing.T, messages ...Message) *RunReport {
	t.Helper()
	var report *RunReport
	bubble.Run(t, "handlertest.Queue.Run", func(t *testing.T) {
		t.Helper()
		report = q.run(t, messages)
	})
	return report
}

// RunRealTime is [Queue.Run] on the real clock and without a bubble. It is for handlers
// that use a real connection, such as one to a database or to an httptest.Server. Each
// delay takes its time: a retry at least a second, a [Kill] the visibility timeout.
func (q Queue) RunRealTime(t testing.TB, messages ...Message) *RunReport {
	t.Helper()
	return q.run(t, messages)
}

func (q Queue) run(t testing.TB, messages []Message) *RunReport {
	t.Helper()
	s := newSimulation(t, q.withDefaults(t), messages)
	s.untilIdle()
	s.awaitHandlers()
	return s.report
}

// Invoke hands all messages to the function in one event and reports what became
// of this delivery. The clock is that of the caller. After and Copies of the
// messages, BatchSize and Retention do not count.
func (q Queue) Invoke(t testing.TB, messages ...Message) *RunReport {
	t.Helper()
	s := newSimulation(t, q.withDefaults(t), messages)
	s.invoke(s.shelf.takeAll(s.start))
	return s.report
}

func (q Queue) withDefaults(t testing.TB) Queue {
	t.Helper()
	if q.Handler == nil {
		t.Fatal("handlertest.Queue: Handler is nil; set it to the function to test, such as handler.JSON(charge)")
	}
	if q.Name == "" {
		q.Name = defaultQueue
	}
	if q.BatchSize <= 0 {
		q.BatchSize = 10
	}
	if q.Timeout <= 0 {
		q.Timeout = 30 * time.Second
	}
	if q.Visibility <= 0 {
		q.Visibility = 6 * q.Timeout
	}
	if q.Retention <= 0 {
		q.Retention = 4 * 24 * time.Hour
	}
	return q
}

func (q Queue) fifo() bool { return strings.HasSuffix(q.Name, ".fifo") }
