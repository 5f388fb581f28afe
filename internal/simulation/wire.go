package simulation

import (
	"context"
	"errors"
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

// wire is the store as a worker sees it: through its own clock, and over a
// network on which calls and answers get lost.
type wire struct{ *worker }

var errGone = errors.New("connection reset by peer")

// Acquire implements [idem.Store].
func (p wire) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	if p.scheme != "" {
		r.Validation = p.scheme + r.Validation
	}
	if p.run == nil || p.run.owner != r.Owner {
		p.run = &run{owner: r.Owner, lease: r.Lease.Add(p.skew)}
	}
	r.Now, r.Lease, r.Expires = r.Now.Add(p.skew), r.Lease.Add(p.skew), r.Expires.Add(p.skew)
	var answer idem.Answer
	err := p.call(ctx, atCall, func(ctx context.Context) (err error) {
		answer, err = p.acquired(ctx, p.worker, r)
		return err
	})
	answer.Claim = p.version.claim(answer.Claim)
	answer.Claim.Lease, answer.Until = p.local(answer.Claim.Lease), p.local(answer.Until)
	return answer, err
}

// complete is the write that completes the job in a transaction with its effect.
func (p wire) complete(ctx context.Context, c idem.Claim, s idem.Settlement) error {
	s.Expires = s.Expires.Add(p.skew)
	run := p.run
	return p.call(ctx, atCall, func(ctx context.Context) error { return p.transacted(ctx, p.worker, run, c, s) })
}

// local is a time of the store by the worker's own clock, which is the one that
// everybody has in here.
func (p wire) local(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(-p.skew)
}

// Settle implements [idem.Store].
func (p wire) Settle(ctx context.Context, c idem.Claim, s idem.Settlement) error {
	c.Lease = c.Lease.Add(p.skew)
	for _, t := range []*time.Time{&s.Lease, &s.Expires, &s.DeadAt} {
		if !t.IsZero() {
			*t = t.Add(p.skew)
		}
	}
	run := p.run
	err := p.call(ctx, atCall, func(ctx context.Context) error { return p.settled(ctx, p.worker, run, c, s) })
	if late, ok := errors.AsType[*idem.LateError](err); ok {
		seen := *late
		seen.Until = p.local(late.Until)
		return &seen
	}
	return err
}

// Renew implements [idem.Store].
func (p wire) Renew(ctx context.Context, c idem.Claim, until time.Time) error {
	c.Lease, until = c.Lease.Add(p.skew), until.Add(p.skew)
	run := p.run
	err := p.call(ctx, atRenew, func(ctx context.Context) error { return p.renewed(ctx, p.worker, c, until) })
	if err == nil {
		run.lease = until
	}
	return err
}

// RecordStep implements [idem.Store].
func (p wire) RecordStep(ctx context.Context, c idem.Claim, s idem.StepRecord) error {
	c.Lease = c.Lease.Add(p.skew)
	return p.call(ctx, atCall, func(ctx context.Context) error { return p.stepRecorded(ctx, p.worker, c, s) })
}

// call carries one call out as fate wants it.
func (p wire) call(ctx context.Context, at point, carryOut func(ctx context.Context) error) error {
	paused, answer := atPause, atAnswer
	if at == atRenew {
		paused, answer = atRenewPause, atRenewed
	}
	late := func() { _ = carryOut(context.Background()) }
	switch p.park(ctx, at) {
	case die:
		return errGone
	case drop:
		return failed(ctx)
	case lose:
		_ = carryOut(p.pausing(paused))
		p.tell("%s: its answer is lost", p.worker)
		return errGone
	case stray:
		p.strays = append(p.strays, late)
		p.tell("%s: a call is held up, and given up", p.worker)
		return errGone
	case echo:
		p.strays = append(p.strays, late)
	case twice:
		_ = carryOut(p.pausing(paused))
		p.tell("%s: its answer is lost, it asks again", p.worker)
		p.park(ctx, paused)
	}
	err := carryOut(p.pausing(paused))
	if fate := p.park(ctx, answer); fate == drop || fate == die {
		return failed(ctx)
	}
	return err
}

// failed is the error of a call without an answer.
func failed(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errGone
}

type pauseKey struct{}

// pausing is the context of one call of the store.
func (p wire) pausing(at point) context.Context {
	first := true
	return context.WithValue(context.Background(), pauseKey{}, func(ctx context.Context) {
		if !first {
			p.pauses++
			p.park(ctx, at)
		}
		first = false
	})
}

// Pause is for a store that may take several steps for one call: if it is called
// ahead of each step, with the context of the call, [Model] lets others act
// between them. It does nothing anywhere else.
func Pause(ctx context.Context) {
	if pause, ok := ctx.Value(pauseKey{}).(func(context.Context)); ok {
		pause(ctx)
	}
}
