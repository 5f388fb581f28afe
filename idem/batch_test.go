package idem_test

import (
	"context"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// invocation is one batch on its way through a processor, with a harness's store.
type invocation struct {
	*harness
	handler.Options
	// job is the harness's if it is nil.
	job handler.Func

	mu      sync.Mutex
	results map[string]*handler.Result
	letters []string
	crashed bool
}

// invoke prepares an invocation whose messages run so many at a time.
func (h *harness) invoke(concurrency int) *invocation {
	return &invocation{
		harness: h, results: map[string]*handler.Result{},
		Options: handler.Options{Concurrency: concurrency, Logger: h.options.Logger, Process: h.process},
	}
}

// batch hands messages out in one invocation with a deadline.
func (i *invocation) batch(messages ...*handler.Message) *invocation {
	i.Helper()
	ctx, cancel := context.WithTimeout(i.Context(), invocationTime)
	defer cancel()
	return i.batchIn(ctx, messages...)
}

func (i *invocation) batchIn(ctx context.Context, messages ...*handler.Message) (ended *invocation) {
	i.Helper()
	if i.job == nil {
		i.job = i.harness.job
	}
	i.Options.DeadLetter = i
	i.Options.Middleware = []handler.Middleware{i.watch, idem.Middleware(i.store, &i.harness.options)}
	p := handler.NewProcessor(i, &i.Options)
	defer func() { ended, i.crashed = i, recover() != nil }()
	e := events.SQSEvent{}
	for _, m := range messages {
		e.Records = append(e.Records, m.SQSMessage)
	}
	if _, err := p.Handle(ctx, e); err != nil {
		i.Errorf("Handle: %v", err)
	}
	return i
}

// watch keeps what the middleware makes of each message.
func (i *invocation) watch(next handler.Func) handler.Func {
	return func(ctx context.Context, m *handler.Message) error {
		err := next(ctx, m)
		i.mu.Lock()
		defer i.mu.Unlock()
		i.results[m.MessageId] = m.Resolve(ctx, err)
		return err
	}
}

// Prepare takes what is behind "in:" out of its envelope.
func (i *invocation) Prepare(_ context.Context, m *handler.Message) error {
	if len(m.Body) > 3 && m.Body[:3] == "in:" {
		m.Unwrap(m.Body[3:], map[string]string{"job": "enclosed"})
	}
	return nil
}

// Handle counts and runs the job.
func (i *invocation) Handle(ctx context.Context, m *handler.Message) error {
	i.harness.mu.Lock()
	i.runs++
	i.harness.mu.Unlock()
	return i.job(ctx, m)
}

// Send takes all letters.
func (i *invocation) Send(_ context.Context, letters []handler.Letter) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for n, l := range letters {
		i.letters = append(i.letters, l.Message.MessageId)
		letters[n].DeadLetterID = "dead-" + l.Message.MessageId
	}
}

// outcomes counts what became of the messages that came to the middleware.
func (i *invocation) outcomes() map[string]int {
	counts := map[string]int{}
	for _, r := range i.results {
		counts[strings.TrimSpace(r.Outcome.String()+" "+r.Decision.Reason)]++
	}
	return counts
}

// ended demands the outcome of one message, and its reason.
func (i *invocation) ended(id string, outcome handler.Outcome, reason string) *handler.Result {
	i.Helper()
	r := i.results[id]
	if r == nil {
		i.Fatalf("%s did not come to the middleware", id)
	}
	if r.Outcome != outcome || r.Decision.Reason != reason {
		i.Fatalf("%s is %s (%s): %v; want %s (%s)", id, r.Outcome, r.Decision.Reason, r.Err, outcome, reason)
	}
	return r
}
