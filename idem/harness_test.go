package idem_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// invocationTime is how long one delivery of a harness may take.
const invocationTime = 30 * time.Second

// harness delivers messages through the middleware to a job, one invocation
// each, and remembers what the store was asked.
type harness struct {
	*testing.T
	faults  idemtest.Faulty
	store   idem.Store // what the middleware sees: the harness, or renewing{harness}
	options idem.Options
	job     handler.Func
	process *handler.Process // of all invocations; nil gives each its own

	mu          sync.Mutex
	runs        int
	requests    []idem.Request
	settlements []idem.Settlement
	calls       []string // of the store, in their order
}

// newHarness has a store in memory and a job that succeeds.
func newHarness(t *testing.T) *harness {
	h := &harness{T: t, job: func(context.Context, *handler.Message) error { return nil }}
	h.store, h.faults.Store = h, idem.NewMemory()
	h.options.Logger = slog.New(slog.DiscardHandler)
	return h
}

// Acquire records the request and passes it on.
func (h *harness) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	h.mu.Lock()
	h.requests = append(h.requests, r)
	h.calls = append(h.calls, "acquire")
	h.mu.Unlock()
	return h.faults.Acquire(ctx, r)
}

// Settle records the settlement and passes it on.
func (h *harness) Settle(ctx context.Context, c idem.Claim, s idem.Settlement) error {
	h.mu.Lock()
	h.settlements = append(h.settlements, s)
	h.calls = append(h.calls, s.Kind.String())
	h.mu.Unlock()
	return h.faults.Settle(ctx, c, s)
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
	next := idem.Middleware(h.store, &h.options)(func(ctx context.Context, m *handler.Message) error {
		h.runs++
		return h.job(ctx, m)
	})
	return m.Resolve(ctx, next(ctx, m))
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

// logs gives what the middleware will log.
func (h *harness) logs() *bytes.Buffer {
	var lines bytes.Buffer
	h.options.Logger = slog.New(slog.NewJSONHandler(&lines, nil))
	return &lines
}

var errStore = errors.New("connection refused")

// want demands the outcome, its reason, and how often the job has run so far.
func (h *harness) want(r *handler.Result, outcome handler.Outcome, reason string, runs int) {
	h.Helper()
	if r.Outcome != outcome || r.Decision.Reason != reason {
		h.Fatalf("outcome is %s (%s): %v; want %s (%s)", r.Outcome, r.Decision.Reason, r.Err, outcome, reason)
	}
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
