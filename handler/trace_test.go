package handler_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/host"
)

// trace notes what happens, in order, and how many are at it at a time.
type trace struct {
	mu      sync.Mutex
	events  []string
	running map[string]bool
	most    int
	// beside has, by message, those that ran at the same time.
	beside map[string][]string
}

func newTrace() *trace { return &trace{running: map[string]bool{}, beside: map[string][]string{}} }

func (tr *trace) note(event string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.events = append(tr.events, event)
}

// enter notes that a message runs, until the function that it gives is called.
func (tr *trace) enter(id string) func() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.events = append(tr.events, id)
	for other := range tr.running {
		tr.beside[id] = append(tr.beside[id], other)
		tr.beside[other] = append(tr.beside[other], id)
	}
	tr.running[id] = true
	tr.most = max(tr.most, len(tr.running))
	return func() {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		delete(tr.running, id)
	}
}

// taking is a job for which the body names steps: "1s" takes a second and heeds
// the context, "deaf" never returns until the test ends; then what script says.
func (tr *trace) taking(f handler.Func) handler.Func {
	return func(ctx context.Context, m *handler.Message) error {
		defer tr.enter(m.MessageId)()
		return f(ctx, m)
	}
}

// steps are jobs whose bodies are like "3s reset": take the time, then do what
// the script says.
func steps(ctx context.Context, m *handler.Message) error {
	for step := range strings.FieldsSeq(m.Body) {
		d, err := time.ParseDuration(step)
		switch {
		case err == nil:
			if err := takes(d)(ctx, m); err != nil {
				return err
			}
		case step == "boom":
			panic("boom")
		case script[step] != nil:
			return script[step](ctx, m)
		}
	}
	return nil
}

// copyOf makes a record that is a copy of a job.
func copyOf(name string, r events.SQSMessage) events.SQSMessage {
	r.MessageAttributes = map[string]events.SQSMessageAttribute{"job": {DataType: "String", StringValue: &name}}
	return r
}

// scene is a batch under the fake clock, with a ledger that does as bodies say.
type scene struct {
	*trace
	*queues
	ledger   *fakeLedger
	options  *handler.Options
	timeout  time.Duration // 0: no limit
	draining chan struct{}
}

func newScene() *scene {
	s := &scene{trace: newTrace(), queues: newQueues(), draining: make(chan struct{})}
	s.ledger = newLedger(s.trace)
	s.options = s.queues.options()
	s.options.Ledger = s.ledger
	return s
}

func (s *scene) processor() *handler.Processor {
	return newProcessor(s.taking(steps), s.options)
}

func (s *scene) context(t *testing.T) (context.Context, context.CancelFunc) {
	ctx := host.WithDraining(t.Context(), s.draining)
	if s.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.timeout)
}

// run gives the ids that come back.
func (s *scene) run(t *testing.T, records ...events.SQSMessage) []string {
	t.Helper()
	return s.runIn(t, s.processor(), records...)
}

// runIn is run in a process that other batches share.
func (s *scene) runIn(t *testing.T, p *handler.Processor, records ...events.SQSMessage) []string {
	t.Helper()
	ctx, cancel := s.context(t)
	defer cancel()
	response, err := p.Handle(ctx, event(records...))
	if err != nil {
		t.Fatal(err)
	}
	return reported(response)
}

// runs are the messages that ran, in order.
func (s *scene) runs() []string {
	s.trace.mu.Lock()
	defer s.trace.mu.Unlock()
	ids := []string{}
	for _, e := range s.events {
		if !strings.Contains(e, " ") {
			ids = append(ids, e)
		}
	}
	return ids
}

// before tells whether one event came before another.
func (s *scene) before(t *testing.T, first, second string) {
	t.Helper()
	i, j := slices.Index(s.events, first), slices.Index(s.events, second)
	if i < 0 || j < 0 || i > j {
		t.Errorf("want %q before %q in %q", first, second, s.events)
	}
}

// inBubble runs a parallel subtest on a fake clock.
func inBubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, f)
	})
}
