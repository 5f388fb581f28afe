package idem_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// invocationTime is how long one invocation of a harness may take.
const invocationTime = 30 * time.Second

// harness delivers messages to a job by a processor whose ledger has a store in
// memory, and remembers what the store was asked.
type harness struct {
	*testing.T
	faults  idemtest.Faulty
	store   idem.Store // what the ledger sees: the harness itself
	options idem.Options
	// engine has the processor's options, those of a ledger and of ports excepted.
	engine handler.Options
	job    handler.Func
	// process is shared by all invocations; nil gives each a process of its own.
	process *handler.Processor
	// posts says that the dead-letter queue takes letters; without it they stay unsent.
	posts bool
	// postage is how long a call to the dead-letter queue takes, unsent what it then says of
	// messages that it does not take.
	postage time.Duration
	unsent  map[string]error
	replays map[string]*handler.Replay // by message

	mu          sync.Mutex
	runs        int
	requests    []idem.Request
	settlements []idem.Settlement
	calls       []string // of the store and the dead-letter queue, in their order
	letters     []string // the messages whose dead letters were sent
}

// newHarness has a job that succeeds.
func newHarness(t *testing.T) *harness {
	h := &harness{T: t, job: func(context.Context, *handler.Message) error { return nil }}
	h.store, h.faults.Store = h, idem.NewMemory()
	h.options.Logger = slog.New(slog.DiscardHandler)
	h.replays = map[string]*handler.Replay{}
	return h
}

// scenario runs in a bubble: its hours take no time.
func scenario(t *testing.T, run func(h *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { run(newHarness(t)) })
}

func pass(d time.Duration) { <-time.After(d) }

// Acquire records the request and passes it on.
func (h *harness) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	h.called("acquire", func() { h.requests = append(h.requests, r) })
	return h.faults.Acquire(ctx, r)
}

// Settle records the settlement and passes it on.
func (h *harness) Settle(ctx context.Context, c idem.Claim, s idem.Settlement) error {
	h.called(s.Kind.String(), func() { h.settlements = append(h.settlements, s) })
	return h.faults.Settle(ctx, c, s)
}

// Renew records the call and passes it on.
func (h *harness) Renew(ctx context.Context, c idem.Claim, until time.Time) error {
	h.called("renew", func() {})
	return h.faults.Renew(ctx, c, until)
}

// RecordStep records the call and passes it on.
func (h *harness) RecordStep(ctx context.Context, c idem.Claim, s idem.StepRecord) error {
	what := "step "
	if s.First {
		what = "first step "
	}
	h.called(what+s.Name, func() {})
	return h.faults.RecordStep(ctx, c, s)
}

func (h *harness) called(what string, note func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, what)
	note()
}

// lastSettlement is the one that was written last.
func (h *harness) lastSettlement() idem.Settlement {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.settlements[len(h.settlements)-1]
}

// deliver hands out m in an invocation of its own.
func (h *harness) deliver(m *handler.Message) *handler.Result {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), invocationTime)
	defer cancel()
	return h.deliverIn(ctx, m)
}

func (h *harness) deliverIn(ctx context.Context, m *handler.Message) *handler.Result {
	h.Helper()
	return h.invoke(1).batchIn(ctx, m).result(m.MessageId)
}

// fails makes the job fail with err from now on.
func (h *harness) fails(err error) {
	h.job = func(context.Context, *handler.Message) error { return err }
}

// broken makes the store refuse that call from now on.
func (h *harness) broken(call idemtest.Call) {
	h.faults.Before = func(_ context.Context, c idemtest.Call) error {
		if c == call {
			return errStore
		}
		return nil
	}
}

// logs gives what the ledger will log.
func (h *harness) logs() *bytes.Buffer {
	var lines bytes.Buffer
	h.options.Logger = slog.New(slog.NewJSONHandler(&lines, nil))
	return &lines
}

// errStore is no error that the ledger waits for to pass.
var errStore = errors.New("no such table")

// want demands the outcome, its reason, and how often the job has run so far.
func (h *harness) want(r *handler.Result, outcome handler.Outcome, reason string, runs int) {
	h.Helper()
	if r.Outcome != outcome || r.Decision.Reason != reason {
		h.Fatalf("outcome is %s (%s): %v; want %s (%s)", r.Outcome, r.Decision.Reason, r.Err, outcome, reason)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runs != runs {
		h.Fatalf("the job ran %d times, want %d", h.runs, runs)
	}
}

// within demands a delay from low to a fifth above it, in whole seconds.
func (h *harness) within(delay, low time.Duration) {
	h.Helper()
	if delay < low || delay > (low+low/5).Truncate(time.Second)+time.Second {
		h.Fatalf("delay is %v, want %v and up to a fifth more", delay, low)
	}
}

// message is a delivery of a job, sent now and received for the first time.
func message(id, body string) *handler.Message {
	return received(id, body, 1)
}

// received is a message that was handed out that often.
func received(id, body string, times int) *handler.Message {
	return &handler.Message{SQSMessage: events.SQSMessage{
		MessageId:      id,
		Body:           body,
		EventSource:    "aws:sqs",
		EventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:charges",
		Attributes: map[string]string{
			"ApproximateReceiveCount": strconv.Itoa(times),
			"SentTimestamp":           strconv.FormatInt(time.Now().UnixMilli(), 10),
		},
	}}
}

// replayed is a message that carries a dead-letter record.
func (h *harness) replayed(id, body string, r handler.Replay) *handler.Message {
	m := message(id, body)
	h.replays[id] = &r
	return m
}
