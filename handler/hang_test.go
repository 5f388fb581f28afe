package handler_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// hangs is one thing that hangs for ever once it is called, whatever its context.
type hangs struct {
	at      string
	release chan struct{}

	mu    sync.Mutex
	times int
}

func (h *hangs) here(at string) {
	if at != h.at {
		return
	}
	h.mu.Lock()
	h.times++
	h.mu.Unlock()
	<-h.release
}

func (h *hangs) called() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.times
}

// hangStore is a store of which one call hangs.
type hangStore struct {
	*idem.Memory
	*hangs
}

func (s hangStore) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	s.here("store: claim")
	return s.Memory.Acquire(ctx, r)
}

func (s hangStore) Settle(ctx context.Context, c idem.Claim, end idem.Settlement) error {
	s.here("store: " + end.Kind.String())
	return s.Memory.Settle(ctx, c, end)
}

func (s hangStore) RecordStep(ctx context.Context, c idem.Claim, r idem.StepRecord) error {
	s.here("store: step")
	return s.Memory.RecordStep(ctx, c, r)
}

// hangQueues are the queues, of which one call hangs.
type hangQueues struct {
	*queues
	*hangs
}

func (q hangQueues) Send(ctx context.Context, letters []handler.Letter) {
	q.here("dead-letter queue")
	q.queues.Send(ctx, letters)
}

func (q hangQueues) ChangeVisibility(ctx context.Context, changes []handler.VisibilityChange) {
	q.here("queue: change visibility")
	q.queues.ChangeVisibility(ctx, changes)
}

func (q hangQueues) Delete(ctx context.Context, deletions []handler.Deletion) {
	q.here("queue: delete")
	q.queues.Delete(ctx, deletions)
}

// hangRules is a classifier, and hangBackoff a backoff, that hangs.
type hangRules struct{ *hangs }

func (r hangRules) Classify(ctx context.Context, err error) fault.Decision {
	r.here("classifier")
	return fault.Rules().Classify(ctx, err)
}

type hangBackoff struct{ *hangs }

func (b hangBackoff) Delay(attempt int, random func() float64) time.Duration {
	b.here("backoff")
	return backoff.Exponential{}.Delay(attempt, random)
}

func (hangBackoff) Attempts() int { return 8 }

// hangLog hangs at a line.
type hangLog struct {
	slog.Handler
	*hangs
}

func (l hangLog) Handle(ctx context.Context, r slog.Record) error {
	l.here("logger: " + r.Message)
	return l.Handler.Handle(ctx, r)
}

// hangPlaces are all that a batch waits for, with what leads there.
var hangPlaces = []string{
	"Restore", "Prepare", "key function", "middleware before", "middleware after", "function", "goroutine of Go",
	"classifier", "backoff", "OnError", "OnDead", "OnBatch", "Redact",
	"logger: " + handler.LogOutcome, "logger: " + handler.LogDeadLettered, "logger: " + handler.LogCrashed,
	"queue: change visibility", "queue: delete", "dead-letter queue",
	"store: claim", "store: complete", "store: release", "store: verdict", "store: confirm", "store: abort",
	"store: alone", "store: crash", "store: step",
}

// hangWorld is a batch in which something hangs.
type hangWorld struct {
	*hangs
	*queues
	ledger  *idem.Ledger
	options *handler.Options

	mu   sync.Mutex
	done map[string]bool
}

func newHangWorld(at string) *hangWorld {
	w := &hangWorld{
		hangs: &hangs{at: at, release: make(chan struct{})}, queues: newQueues(), done: map[string]bool{},
	}
	key := func(ctx context.Context, m *handler.Message) (string, error) {
		w.here("key function")
		return m.MessageId, nil
	}
	w.ledger = must(idem.New(hangStore{idem.NewMemory(), w.hangs}, &idem.Options{Key: key, Logger: noLog}))
	o := w.queues.options()
	q := hangQueues{w.queues, w.hangs}
	o.DeadLetter, o.Queue, o.Ledger = q, q, w.ledger
	o.Logger = slog.New(hangLog{o.Logger.Handler(), w.hangs})
	o.Classifier, o.Backoff, o.Breaker, o.MaxReceives = hangRules{w.hangs}, hangBackoff{w.hangs}, -1, 6
	o.Restore = func(*handler.Message) { w.here("Restore") }
	o.Redact = func(*handler.Message) string { w.here("Redact"); return "" }
	o.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
		return func(ctx context.Context, m *handler.Message) error {
			w.here("middleware before")
			err := next(ctx, m)
			w.here("middleware after")
			return err
		}
	}}
	o.Hooks = handler.Hooks{
		OnError: func(context.Context, *handler.Message, *handler.Result) { w.here("OnError") },
		OnDead:  func(context.Context, handler.Letter, string) { w.here("OnDead") },
		OnBatch: func(context.Context, handler.Report) { w.here("OnBatch") },
	}
	w.options = o
	return w
}

// Prepare implements handler.Handler.
func (w *hangWorld) Prepare(_ context.Context, m *handler.Message) (func(context.Context) error, error) {
	w.here("Prepare")
	return func(ctx context.Context) error { return w.work(ctx, m) }, nil
}

func (w *hangWorld) work(ctx context.Context, m *handler.Message) error {
	w.here("function")
	if m.MessageId == "steps" {
		if err := idem.Step(ctx, "part", func(context.Context) error { return nil }); err != nil {
			return err
		}
		handler.Go(ctx, func(context.Context) error { w.here("goroutine of Go"); return nil })
	}
	err := steps(ctx, m)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.done[m.MessageId] = true
	}
	return err
}

// records are jobs of all kinds: done, retried, dead, a suspect, one that is cut off,
// and, if one is to crash, one that panics.
func (w *hangWorld) records(fifo, crash bool) []events.SQSMessage {
	records := []events.SQSMessage{
		record("good", "good"), record("retry", "reset"), record("dead", "permanent"), record("steps", "good"),
		received(3, record("suspect", "good")), record("cut", "1h"),
	}
	if crash {
		records = append(records, record("boom", "boom"))
	}
	if fifo {
		for i := range records {
			records[i] = grouped(fmt.Sprint("g", i%3), records[i])
		}
	}
	return records
}

// unsettle leaves claims on the job of a message that end without a result.
func unsettle(t *testing.T, ledger *idem.Ledger, r events.SQSMessage, claims int) {
	t.Helper()
	m := &handler.Message{SQSMessage: r}
	for range claims {
		id := must(ledger.Identify(t.Context(), m))
		if a := ledger.Claim(t.Context(), m, id, time.Now().Add(time.Second)); a.Decided != nil {
			t.Fatalf("not claimed: %v", a.Decided)
		}
		<-time.After(4 * time.Second)
	}
}

// Handle returns before the deadline with any one thing hanging for ever: it answers with
// what is settled and reports the rest, and the process ends.
func TestHandleReturnsWhateverHangs(t *testing.T) {
	t.Parallel()
	for _, at := range hangPlaces {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			reached := 0
			for _, timeout := range []time.Duration{0, time.Second, 30 * time.Second} {
				for _, concurrency := range []int{1, 8} {
					for _, kind := range []struct{ fifo, crash bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
						name := fmt.Sprintf("timeout %v, concurrency %d, FIFO %v, crash %v", timeout, concurrency, kind.fifo, kind.crash)
						synctest.Test(t, func(t *testing.T) {
							reached += playHang(t, name, at, timeout, concurrency, kind.fifo, kind.crash)
						})
					}
				}
			}
			if reached == 0 {
				t.Error("nothing has come there")
			}
		})
	}
}

// playHang runs one batch and gives how often something hung.
func playHang(t *testing.T, name, at string, timeout time.Duration, concurrency int, fifo, crash bool) int {
	w := newHangWorld("") // nothing hangs while it is prepared
	records := w.records(fifo, crash)
	unsettle(t, w.ledger, records[4], 2)
	w.hangs.at = at
	w.options.Concurrency = concurrency
	p := newProcessor(w, w.options)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	limit := timeout
	if timeout == 0 { // a host without a deadline, which stops after a minute
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		limit = time.Minute + 12*time.Second
	}
	defer cancel()
	start := time.Now()
	response, crashed := end(ctx, p, records)
	if took := time.Since(start); took >= limit {
		t.Errorf("%s: took %v of %v", name, took, limit)
	}
	hung := w.called()
	if response == nil && !crashed {
		t.Errorf("%s: neither an answer nor a panic that the runtime understands", name)
	}
	w.judge(t, name, response, records)
	if hung > 0 && !crashed && timeout > 0 { // a host that was told to stop has no next batch
		func() {
			defer func() {
				if _, ends := recover().(messages.InvokeResponse_Error); !ends {
					t.Errorf("%s: the next batch does not end the process", name)
				}
			}()
			later, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			_, _ = p.Handle(later, event(record("next", "good")))
		}()
	}
	if timeout > 0 && w.done["next"] {
		t.Errorf("%s: a job ran beside what hangs", name)
	}
	close(w.release)
	<-time.After(24 * time.Hour) // for what was left behind
	return hung
}

// judge demands that every message that does not come back is done or dead-lettered.
func (w *hangWorld) judge(t *testing.T, name string, response *events.SQSEventResponse, records []events.SQSMessage) {
	t.Helper()
	dead := w.queues.dead()
	w.queues.mu.Lock()
	gone := slices.Clone(w.queues.deleted)
	w.queues.mu.Unlock()
	if response != nil {
		back := reported(*response)
		gone = nil
		for _, r := range records {
			if !slices.Contains(back, r.MessageId) {
				gone = append(gone, r.MessageId)
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range gone {
		if !w.done[id] && !slices.Contains(dead, id) {
			t.Errorf("%s: %s is lost; done: %v, dead: %v", name, id, slices.Collect(maps.Keys(w.done)), strings.Join(dead, " "))
		}
	}
}
