package idem

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/jobid"
)

// Ledger makes each job take effect once: it claims a message's job in a [Store] before
// the job runs, and stores the outcome afterwards. It implements [handler.Ledger] and is
// safe for concurrent use.
//
// The job does not run if its key is missing, if it is completed or dead, if another
// delivery has claimed it, or if it has crashed its process too often. It also does not
// run if the store cannot be reached, unless [Options].FailOpen is set.
type Ledger struct {
	store   Store
	options Options
}

var _ handler.Ledger = (*Ledger)(nil)

// New returns a Ledger that uses store, which must not be nil. Nil options mean the
// defaults.
func New(store Store, o *Options) (*Ledger, error) {
	if store == nil {
		return nil, errors.New("idem: the store is nil; give it one, such as that of idem/dynamo")
	}
	l := &Ledger{store: store}
	var err error
	if l.options, err = o.withDefaults(); err != nil {
		return nil, err
	}
	return l, nil
}

// Identify implements [handler.Ledger]. It calls the key function.
func (l *Ledger) Identify(ctx context.Context, m *handler.Message) (handler.Identity, error) {
	key, err := l.options.Key(ctx, m)
	if err != nil {
		return handler.Identity{}, err
	}
	if err := checkKey(key); err != nil {
		return handler.Identity{}, missingKey(err)
	}
	return handler.Identity{Key: key, ID: jobid.Of(m.QueueName(), key)}, nil
}

// Ahead implements [handler.Ledger]. It is false with DeadLetterUnknown, since a claim
// without a result counts as a run then.
func (l *Ledger) Ahead() bool { return !l.options.DeadLetterUnknown }

// Claim implements [handler.Ledger].
func (l *Ledger) Claim(
	ctx context.Context, m *handler.Message, id handler.Identity, end time.Time,
) handler.ClaimAnswer {
	request := l.request(m, id, end)
	if reason := blockedBy(ctx, request.Lease.Add(-deadline.ClockMargin)); reason != "" {
		return decided(deferred(reason))
	}
	answer, err := l.acquire(ctx, request)
	if err != nil {
		return l.unclaimed(ctx, m, id, request, err)
	}
	answer.Job.Key = id.Key
	switch answer.Kind {
	case AnswerAcquired:
		c := l.newClaim(m, answer, end)
		return handler.ClaimAnswer{
			Claim: c, Job: answer.Job, Unsettled: answer.Claims - answer.Settled, Refusal: c.refusal(),
		}
	case AnswerSend:
		c := l.newClaim(m, answer, end)
		return handler.ClaimAnswer{Claim: c, Job: answer.Job, Decided: c.unsentLetter()}
	default:
		return decided(refused(answer))
	}
}

func decided(r *handler.Result) handler.ClaimAnswer { return handler.ClaimAnswer{Decided: r} }

// request returns the claim request for m's job.
func (l *Ledger) request(m *handler.Message, id handler.Identity, end time.Time) Request {
	now := time.Now()
	r := Request{
		ID:         id.ID,
		Owner:      rand.Text(),
		MessageID:  m.MessageId,
		SentAt:     m.SentAt(),
		Validation: l.options.Hash.Validation(m.Content()),
		Now:        now,
		Lease:      leaseEnd(now, end, l.options.Lease),
		Expires:    now.Add(l.options.Keep),
	}
	if m.Replay != nil && m.Replay.Verdict && m.Replay.Key == id.Key {
		r.Epoch = m.Replay.Epoch + 1
	}
	return r
}

// leaseEnd returns the end of a lease: the end of the invocation, or unbounded from now
// if there is none, plus the clock margin.
func leaseEnd(now, end time.Time, unbounded time.Duration) time.Time {
	if end.IsZero() {
		end = now.Add(unbounded)
	}
	return end.Add(deadline.ClockMargin)
}

// blockedBy returns why a job may not start now under a lease that may be used until the
// given time; empty if it may.
func blockedBy(ctx context.Context, until time.Time) string {
	if !time.Now().Before(until) {
		return handler.ReasonNoTime
	}
	return endReason(ctx)
}

// endReason returns why nothing may start under a context that has ended; empty if it has
// not ended.
func endReason(ctx context.Context) string {
	return deadline.EndReason(ctx, handler.ReasonNoTime, handler.ReasonCancelled)
}

// abortTimeout limits the release of a claim whose request had no answer. It takes at most a
// quarter of the time that is left, since the message is to be hidden in that time too.
const abortTimeout = time.Second

// unclaimed returns the answer if the store did not answer. The claim may have been
// written anyway, so it is released. It is not released if the job runs without the
// store: the claim then keeps other deliveries from running it.
func (l *Ledger) unclaimed(
	ctx context.Context, m *handler.Message, id handler.Identity, r Request, err error,
) handler.ClaimAnswer {
	reason := endReason(ctx)
	if reason != "" || !l.options.FailOpen && errors.Is(err, context.DeadlineExceeded) {
		l.giveBack(ctx, r)
	}
	if reason != "" {
		return decided(deferred(reason))
	}
	err = fmt.Errorf("idem: acquire: %w", err)
	if !l.options.FailOpen {
		return decided(storeFailed(err))
	}
	l.options.log(ctx, slog.LevelWarn, "job runs unprotected",
		slog.String("messageId", m.MessageId), keyField(id.Key), slog.String("error", err.Error()))
	return handler.ClaimAnswer{
		Claim: &unprotected{ledger: l, message: m, key: id.Key, down: err}, Job: handler.Job{Key: id.Key},
	}
}

// giveBack releases a claim that may have been written although its answer was lost. A
// repeated request returns whether it was.
func (l *Ledger) giveBack(ctx context.Context, r Request) {
	left := time.Until(r.Lease.Add(-deadline.ClockMargin))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(abortTimeout, left/4))
	defer cancel()
	answer, err := l.store.Acquire(ctx, r)
	if err != nil || answer.Kind != AnswerAcquired {
		return
	}
	_ = l.store.Settle(ctx, answer.Claim, Settlement{ // the lease ends by itself otherwise
		Kind: SettleAbort, Lease: time.Now(), Expires: r.Expires, Crashes: answer.Job.Crashes,
	})
}

// failOpenTimeout is how long a job waits for the store at most if it may run without it.
const failOpenTimeout = 5 * time.Second

// acquire sends the request to the store. With FailOpen it leaves time for the job to
// run.
func (l *Ledger) acquire(ctx context.Context, r Request) (Answer, error) {
	wait := writeTimeout
	if l.options.FailOpen {
		wait = failOpenTimeout
		if end, ok := ctx.Deadline(); ok {
			wait = min(wait, time.Until(end)/4)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return l.store.Acquire(ctx, r)
}
