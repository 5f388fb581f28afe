package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	queues "github.com/sqsafe/sqsafe/internal/localaws/sqs"
	"github.com/sqsafe/sqsafe/worker"
)

// world is a queue in a bubble, and what is seen to happen.
type world struct {
	concurrency int // of the processor; 0 for the default

	t      *testing.T
	begin  time.Time
	server *localaws.Server
	client *sqs.Client
	url    string
	store  idem.Store

	mu       sync.Mutex
	names    map[string]string // bodies by message id
	journal  []string
	outcomes []string
	logged   []string
}

// bubble runs a scenario on a queue with the given name and visibility timeout.
func bubble(t *testing.T, name, visibility string, scenario func(w *world)) {
	t.Helper()
	t.Parallel()
	inBubble(t, name, visibility, scenario)
}

// inBubble is bubble without other tests beside it.
func inBubble(t *testing.T, name, visibility string, scenario func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, begin: time.Now(), names: map[string]string{}, store: idem.NewMemory()}
		w.server = localaws.New(&localaws.Options{Observe: w.observe})
		w.client = sqs.NewFromConfig(localtest.Config(w.server))
		attributes := map[string]string{"VisibilityTimeout": visibility}
		if strings.HasSuffix(name, ".fifo") {
			attributes["FifoQueue"] = "true"
		}
		out, err := w.client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		if err != nil {
			t.Fatal(err)
		}
		w.url = *out.QueueUrl
		scenario(w)
	})
}

// observe writes the journal of the queue, with the bodies as names.
func (w *world) observe(e queues.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Kind == queues.Sent {
		w.names[e.MessageID] = e.Body[:min(len(e.Body), 2)]
		return
	}
	line := fmt.Sprint(e.Time.Sub(w.begin), " ", e.Kind, " ", w.names[e.MessageID])
	if e.Kind == queues.Received {
		line += fmt.Sprint(" #", e.ReceiveCount)
	}
	if e.Kind == queues.VisibilityChanged {
		line += fmt.Sprint(" ", e.Timeout)
	}
	w.journal = append(w.journal, line)
}

// Enabled, Handle, WithAttrs and WithGroup make world the logger's handler.
func (w *world) Enabled(context.Context, slog.Level) bool { return true }

func (w *world) Handle(_ context.Context, r slog.Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	fields := map[string]string{}
	r.Attrs(func(a slog.Attr) bool {
		fields[a.Key] = a.Value.String()
		return true
	})
	if r.Message != handler.LogOutcome {
		w.logged = append(w.logged, strings.TrimSuffix(r.Message+": "+fields["remedy"], ": "))
		return nil
	}
	parts := []string{w.names[fields["messageId"]], fields["outcome"]}
	for _, key := range []string{"reason", "attempt"} {
		if fields[key] != "" {
			parts = append(parts, fields[key])
		}
	}
	w.outcomes = append(w.outcomes, strings.Join(parts, " "))
	if fields["stack"] != "" {
		w.logged = append(w.logged, "stack")
	}
	return nil
}

func (w *world) WithAttrs([]slog.Attr) slog.Handler { return w }

func (w *world) WithGroup(string) slog.Handler { return w }

// seen gives what has happened since the last time it was asked.
func (w *world) seen() (journal, outcomes []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	journal, outcomes = w.journal, w.outcomes
	w.journal, w.outcomes = nil, nil
	return journal, outcomes
}

func (w *world) count(logged string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(w.logged), func(s string) bool { return s != logged }))
}

// send sends bodies in order; the first letter is the group on a FIFO queue.
func (w *world) send(bodies ...string) {
	w.t.Helper()
	for _, body := range bodies {
		in := &sqs.SendMessageInput{QueueUrl: &w.url, MessageBody: aws.String(body)}
		if strings.HasSuffix(w.url, ".fifo") {
			in.MessageGroupId, in.MessageDeduplicationId = aws.String(body[:1]), aws.String(body[:2])
		}
		if _, err := w.client.SendMessage(w.t.Context(), in); err != nil {
			w.t.Fatal(err)
		}
	}
}

// running is a worker that polls.
type running struct {
	*worker.Worker
	t     *testing.T
	begin time.Time
	stop  context.CancelFunc
	err   chan error
	ended time.Duration
}

// start starts a worker with one batch at a time, unless o says something else.
func (w *world) start(o worker.Options, job handler.Func) *running {
	o.QueueURL, o.Logger = w.url, slog.New(w)
	if o.Batches == 0 {
		o.Batches = 1
	}
	polling, err := worker.New(w.client, &o)
	if err != nil {
		w.t.Fatal(err)
	}
	ledger, err := idem.New(w.store, &idem.Options{Logger: o.Logger})
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := handler.NewProcessor(job, &handler.Options{
		Ledger: ledger, Backoff: backoff.Exponential{Base: 4 * time.Second},
		Queue: polling.Queue(), Logger: o.Logger, Random: func() float64 { return 0 }, Concurrency: w.concurrency,
		Hooks: handler.Hooks{OnBatch: polling.OnBatch},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.run(polling, p)
}

// run lets a worker poll.
func (w *world) run(polling *worker.Worker, p *handler.Processor) *running {
	r := &running{Worker: polling, t: w.t, begin: w.begin, err: make(chan error, 1)}
	ctx, stop := context.WithCancel(w.t.Context())
	r.stop = stop
	go func() {
		err := r.Run(ctx, p)
		r.ended = time.Since(r.begin)
		r.err <- err
	}()
	return r
}

// endLimit is more than any worker takes that was told to stop, or that crashes.
const endLimit = 5 * time.Minute

// result waits for the end of the worker. A worker that does not end polls on, and the
// time of its bubble never ends.
func (r *running) result() (ended time.Duration, err error) {
	r.t.Helper()
	select {
	case err = <-r.err:
		return r.ended, err
	case <-time.After(endLimit):
		r.t.Fatalf("the worker still polls after %s: it has neither crashed nor stopped", endLimit)
		return 0, nil
	}
}

// after waits for d of the bubble's time.
func after(d time.Duration) { <-time.After(d) }

// work takes d, unless ctx ends before.
func work(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lasting is a job that takes d.
func lasting(d time.Duration) handler.Func {
	return func(ctx context.Context, _ *handler.Message) error { return work(ctx, d) }
}
