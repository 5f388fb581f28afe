package idem_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/fault"
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
	sources map[string]source // of the results
	crashed bool
	panic   string // what the crash says
}

// invoke prepares an invocation whose messages run so many at a time.
func (h *harness) invoke(concurrency int) *invocation {
	o := h.engine
	o.Concurrency = concurrency
	return &invocation{
		harness: h, Options: o, results: map[string]*handler.Result{}, sources: map[string]source{},
	}
}

// shared gives all invocations from now on one process.
func (h *harness) shared(concurrency int) {
	h.process = h.invoke(concurrency).processor()
}

// processor makes the process of the invocation.
func (i *invocation) processor() *handler.Processor {
	i.Helper()
	ledger, err := idem.New(i.store, &i.options)
	if err != nil {
		i.Fatal(err)
	}
	o := i.Options
	o.Ledger, o.Restore, o.Logger = recorder{ledger, i}, i.restore, slog.New(outcomes{i})
	o.Hooks.OnError = i.onError
	if i.posts {
		o.DeadLetter = i
	}
	p, err := handler.NewProcessor(i, &o)
	if err != nil {
		i.Fatal(err)
	}
	return p
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
	p := i.process
	if p == nil {
		p = i.processor()
	}
	e := events.SQSEvent{}
	for _, m := range messages {
		e.Records = append(e.Records, m.SQSMessage)
	}
	defer func() {
		if value := recover(); value != nil {
			ended, i.crashed, i.panic = i, true, fmt.Sprint(value)
		}
	}()
	if _, err := p.Handle(withInvocation(ctx, i), e); err != nil {
		i.Errorf("Handle: %v", err)
	}
	return i
}

type invocationKey struct{}

func withInvocation(ctx context.Context, i *invocation) context.Context {
	return context.WithValue(ctx, invocationKey{}, i)
}

// of is the invocation that a call belongs to, where several share a process.
func (i *invocation) of(ctx context.Context) *invocation {
	if own, ok := ctx.Value(invocationKey{}).(*invocation); ok {
		return own
	}
	return i
}

// source is who says what became of a message. A later one knows more.
type source int

const (
	bySilence source = iota
	byLog
	byHook
	byLedger // the processor completes its results in place
)

// note keeps what becomes of a message.
func (i *invocation) note(ctx context.Context, id string, r *handler.Result, by source) {
	own := i.of(ctx)
	own.mu.Lock()
	defer own.mu.Unlock()
	if own.sources[id] <= by {
		own.results[id], own.sources[id] = r, by
	}
}

// restore gives a message what its dead-letter record says.
func (i *invocation) restore(m *handler.Message) { m.Replay = i.replays[m.MessageId] }

// onError has the results of messages that did not come to the ledger.
func (i *invocation) onError(ctx context.Context, m *handler.Message, r *handler.Result) {
	i.note(ctx, m.MessageId, r, byHook)
}

// Prepare takes what is behind "in:" out of its envelope.
func (i *invocation) Prepare(ctx context.Context, m *handler.Message) (func(context.Context) error, error) {
	if content, ok := strings.CutPrefix(m.Body, "in:"); ok {
		m.Unwrap(content, map[string]string{"job": "enclosed"})
	}
	return func(run context.Context) error {
		i.harness.mu.Lock()
		i.runs++
		i.harness.mu.Unlock()
		return i.of(ctx).job(run, m)
	}, nil
}

// Send takes all letters, or refuses them.
func (i *invocation) Send(ctx context.Context, letters []handler.Letter) {
	if i.postage > 0 && until(ctx, i.postage) != nil {
		return
	}
	for n, l := range letters {
		i.called("send", func() { i.letters = append(i.letters, l.Message.MessageId) })
		letters[n].DeadLetterID, letters[n].Err = "dead-"+l.Message.MessageId, i.unsent[l.Message.MessageId]
	}
}

// outcomes counts what became of the messages.
func (i *invocation) outcomes() map[string]int {
	counts := map[string]int{}
	for _, r := range i.results {
		counts[strings.TrimSpace(r.Outcome.String()+" "+r.Decision.Reason)]++
	}
	return counts
}

func (i *invocation) result(id string) *handler.Result {
	i.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	r := i.results[id]
	if r == nil {
		i.Fatalf("%s has no outcome", id)
	}
	return r
}

// ended demands the outcome of one message, and its reason.
func (i *invocation) ended(id string, outcome handler.Outcome, reason string) *handler.Result {
	i.Helper()
	r := i.result(id)
	if r.Outcome != outcome || r.Decision.Reason != reason {
		i.Fatalf("%s is %s (%s): %v; want %s (%s)", id, r.Outcome, r.Decision.Reason, r.Err, outcome, reason)
	}
	return r
}

// recorder keeps what the ledger makes of each delivery.
type recorder struct {
	handler.Ledger
	*invocation
}

func (r recorder) Claim(
	ctx context.Context, m *handler.Message, id handler.Identity, end time.Time,
) handler.ClaimAnswer {
	a := r.Ledger.Claim(ctx, m, id, end)
	if a.Decided != nil {
		r.note(ctx, m.MessageId, a.Decided, byLedger)
	}
	if a.Claim != nil {
		a.Claim = recordedClaim{a.Claim, r.invocation, m.MessageId}
	}
	return a
}

type recordedClaim struct {
	handler.Claim
	invocation *invocation
	message    string
}

func (c recordedClaim) Settle(ctx context.Context, e handler.Ending) *handler.Result {
	res := c.Claim.Settle(ctx, e)
	c.invocation.note(ctx, c.message, res, byLedger)
	return res
}

// outcomes reads the processor's log lines, which each message has: some of them are
// left to a later receive without the ledger.
type outcomes struct{ *invocation }

func (outcomes) Enabled(context.Context, slog.Level) bool { return true }

func (o outcomes) Handle(ctx context.Context, record slog.Record) error {
	if record.Message != handler.LogOutcome {
		return nil
	}
	said := map[string]slog.Value{}
	record.Attrs(func(a slog.Attr) bool { said[a.Key] = a.Value; return true })
	r := &handler.Result{Decision: fault.Decision{Reason: text(said["reason"])}}
	for outcome := range handler.OutcomeDropped + 1 {
		if outcome.String() == said["outcome"].String() {
			r.Outcome = outcome
		}
	}
	if delay, ok := said["delaySeconds"]; ok {
		r.Delay = time.Duration(delay.Float64() * float64(time.Second))
	}
	o.note(ctx, said["messageId"].String(), r, byLog)
	return nil
}

func text(v slog.Value) string {
	if v.Kind() == slog.KindString {
		return v.String()
	}
	return ""
}

func (o outcomes) WithAttrs([]slog.Attr) slog.Handler { return o }
func (o outcomes) WithGroup(string) slog.Handler      { return o }
