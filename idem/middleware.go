package idem

import (
	"context"
	"crypto/rand"
	"runtime/debug"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// Middleware claims each message's job in store before next runs, and writes
// what became of it before the answer goes out. It sets the message's Job and
// the context's [Key]. Errors that come out of it hold a [handler.Result]
// except for those of the key function. It is safe for concurrent use.
//
// The job is not run when its key is missing, when it has its outcome, when
// another delivery holds it, when it has ended its process too often, and, unless
// [Options] say so, when the store cannot be asked. One that may have ended its
// process runs alone ([handler.Message.Alone]), and a copy in the same batch waits
// for the first.
func Middleware(store Store, o *Options) handler.Middleware {
	if store == nil {
		panic("idem.Middleware: the store is nil; give it one, such as that of idem/dynamo")
	}
	renewer, renews := store.(Renewer)
	stepper, _ := store.(Stepper)
	g := &guard{store: store, renewer: renewer, stepper: stepper, options: o.withDefaults(renews)}
	return func(next handler.Func) handler.Func {
		return func(ctx context.Context, m *handler.Message) error { return g.handle(ctx, m, next) }
	}
}

// guard is the middleware's fixed part.
type guard struct {
	store   Store
	renewer Renewer // nil where the store is none
	stepper Stepper // nil where the store is none
	options Options
}

// handle claims the job and does what the answer says.
func (g *guard) handle(ctx context.Context, m *handler.Message, next handler.Func) error {
	key, err := g.key(ctx, m)
	if err != nil {
		return err
	}
	m.Job = handler.Job{Key: key}
	ctx = withNamespace(ctx, m.QueueName())
	id, hash := itemID(m.QueueName(), key), payloadHash(m.Content())
	if err := follow(ctx, m, id, hash); err != nil {
		return err
	}
	request := g.request(ctx, m, id, hash)
	if reason := hindrance(ctx, request.Lease); reason != "" {
		return m.Unrun(reason, nil)
	}
	answer, err := g.acquire(ctx, request)
	if err != nil {
		return g.unasked(ctx, m, next, err)
	}
	if answer.Kind != AnswerAcquired && answer.Kind != AnswerSend {
		return refused(ctx, m, answer)
	}
	answer.Job.Key = key
	m.Job = answer.Job
	c := &claimed{guard: g, message: m, answer: answer}
	if answer.Kind == AnswerSend {
		return c.send()
	}
	return c.run(ctx, next)
}

// key finds the job's key. A panic of the key function is a permanent failure, as
// one of decoding is: nothing was claimed and no effect begun, so that no ledger
// would ever stop what panics at each delivery.
func (g *guard) key(ctx context.Context, m *handler.Message) (key string, err error) {
	defer func() {
		if value := recover(); value != nil {
			panicked := &handler.PanicError{Value: value, Stack: string(debug.Stack())}
			err = fault.Permanent(panicked, fault.Reason(handler.ReasonPanic))
		}
	}()
	key, err = g.options.Key(ctx, m)
	if err != nil {
		return "", err
	}
	if err := checkKey(key); err != nil {
		return "", missingKey(err)
	}
	return key, nil
}

// request asks for the claim of m's job.
func (g *guard) request(ctx context.Context, m *handler.Message, id, hash string) Request {
	now := time.Now()
	r := Request{
		ID:         id,
		Owner:      rand.Text(),
		MessageID:  m.MessageId,
		SentAt:     m.SentAt(),
		Validation: hash,
		Now:        now,
		Lease:      g.lease(ctx, now),
		Expires:    now.Add(g.options.Keep),
	}
	if m.Replay != nil && m.Replay.Verdict && m.Replay.Key == m.Job.Key {
		r.Epoch = m.Replay.Epoch + 1
	}
	return r
}

// lease is the end of a claim that is made or renewed now.
func (g *guard) lease(ctx context.Context, now time.Time) time.Time {
	return claimEnd(ctx, now, g.options.Lease)
}

// sendLease is the end of a claim that is left to the sending of a dead letter,
// which may wait for the rest of the batch. Nobody renews it.
func (g *guard) sendLease(ctx context.Context, now time.Time) time.Time {
	return claimEnd(ctx, now, max(g.options.Lease, fixedLease))
}

// claimEnd is the end of the invocation, or of the given time where it has
// none. The handler's own deadline is earlier than the invocation's, until
// which it may be settled and its dead letter sent.
func claimEnd(ctx context.Context, now time.Time, unbounded time.Duration) time.Time {
	end, ok := handler.InvocationDeadline(ctx)
	if !ok {
		end = now.Add(unbounded)
	}
	return end.Add(handler.ClockMargin)
}
