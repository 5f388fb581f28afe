package handler

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
)

// carrier is a goroutine that takes messages through the chain, one after the
// other: user code may end it, so it must not be the invocation's own.
type carrier struct {
	batch *batch
	// free is the runner that no call uses.
	free atomic.Pointer[runner]
}

// errand is one message to take through the chain.
type errand struct {
	ctx     context.Context
	entry   *entry
	message *Message
}

// dispatch gives a message to a carrier.
func (b *batch) dispatch(ctx context.Context, e *entry) {
	next := errand{ctx: ctx, entry: e, message: e.message}
	if b.idle > 0 {
		b.idle--
		b.errands <- next
		return
	}
	go (&carrier{batch: b}).work(next)
}

// growStack makes room for what decoding needs, at once instead of by doubling:
// each time all frames are copied.
//
//go:noinline
func growStack(at int) byte {
	var room [12 << 10]byte
	return room[at]
}

// work carries messages until the batch has no more.
func (c *carrier) work(next errand) {
	growStack(0)
	defer func() { c.free.Load().dismiss() }()
	for more := true; more; next, more = <-c.batch.errands {
		c.carry(next)
	}
}

// carry takes one message through the chain. What it holds of the turn it gives
// back only when all can know of its crash.
func (c *carrier) carry(next errand) {
	b, m := c.batch, next.message
	next.entry.seat = seat{batch: b, entry: next.entry, message: m, carrier: c}
	m.seat = &next.entry.seat
	ctx, cancel := context.WithCancel(withMessage(next.ctx, m))
	defer cancel()
	m.crew.cancel = cancel
	recovered(
		func() error { return b.seated(ctx, m) },
		func(err error) {
			r := b.decided(ctx, m, err)
			if r.Outcome != OutcomeCrash { // else a goroutine that was left behind may read it
				m.asReceived(next.entry.record)
			}
			if r.Outcome == OutcomeCrash {
				b.options.Process.distrust(r)
			}
			m.seat.giveBack()
			b.tell(ctx, next, r, wasEnded(err))
		},
	)
}

// tell hands a result in, unless the message was given up, and calls the hook.
// A carrier whose goroutine was ended takes no further message.
func (b *batch) tell(ctx context.Context, done errand, r *Result, ended bool) {
	if !done.entry.decided.CompareAndSwap(false, true) {
		return
	}
	hooked := b.hooksOnError(r)
	var told *Result
	if hooked {
		told = r.clone()
	}
	b.signal(signal{entry: done.entry, result: r, hooked: hooked, idle: !hooked && !ended})
	if hooked {
		b.onError(ctx, done.message, told)
		b.signal(signal{unhooked: true, idle: !ended})
	}
}

// seated runs the chain while the message shares the process's turn.
func (b *batch) seated(ctx context.Context, m *Message) error {
	if reason := m.seat.take(ctx, shareSome); reason != "" {
		return m.Unrun(reason, nil)
	}
	return b.stray(ctx, m, solid(b.chain(ctx, m)))
}

// stray waits for goroutines that middleware has started by [Go], which are none
// of the handler's: a panic counts, an error is logged.
func (b *batch) stray(ctx context.Context, m *Message, err error) error {
	if r := AsResult(err); r != nil && r.Outcome == OutcomeCrash {
		return err
	}
	stray := m.crew.join(nil)
	if stray == nil {
		return err
	}
	if p, ok := asPanic(stray); ok {
		return p
	}
	b.options.Logger.LogAttrs(ctx, slog.LevelError, "goroutine failed outside of the handler",
		slog.String("messageId", m.MessageId), slog.String("error", cut(text(stray), logTextBytes)))
	return err
}

// decided is decide, with a panic of a Classifier or a Backoff taken for one of
// the handler.
func (b *batch) decided(ctx context.Context, m *Message, err error) (r *Result) {
	if wasEnded(err) && m.prepareErr != nil {
		err = b.rejected(ctx, m)
	}
	recovered(
		func() error { r = b.decide(ctx, m, err); return nil },
		func(err error) {
			if err != nil {
				r = crashed(m, err)
			}
		},
	)
	return r
}

// decide is the outermost word on a message. An error of middleware comes here
// unclassified. A Result that says nothing counts as a failure of the process.
func (b *batch) decide(ctx context.Context, m *Message, err error) *Result {
	r := m.Resolve(ctx, err)
	if r.Outcome == OutcomeCrash && r.Delay <= 0 && !r.Lease.IsZero() {
		r.Delay = backoff.Spread(time.Until(r.Lease), backoff.DefaultJitter, b.options.Random)
	}
	if r.Outcome == OutcomeNone || r.Outcome > OutcomeDropped || r.Outcome == OutcomeDead && r.Failure == nil {
		return &Result{
			Outcome:  OutcomeCrash,
			Decision: fault.Decision{Reason: ReasonNoOutcome},
			Err:      r,
			Job:      m.Job,
		}
	}
	return r
}

// runner is a goroutine for calls of user code, so that code which ignores its
// context can be left behind, and middleware learns of it.
type runner struct {
	calls chan func() error
	done  chan error
}

// call runs f on a goroutine of its own.
func (c *carrier) call(f func() error) error {
	r := c.free.Swap(nil)
	if r == nil {
		r = &runner{calls: make(chan func() error, 1), done: make(chan error, 1)}
		go r.work()
	}
	r.calls <- f
	select {
	case err := <-r.done:
		if _, panicked := err.(*PanicError); panicked || !c.free.CompareAndSwap(nil, r) {
			r.dismiss()
		}
		return err
	case <-c.batch.left:
		r.dismiss()
		return ErrAbandoned
	}
}

func (r *runner) work() {
	for f := range r.calls {
		recovered(f, func(err error) { r.done <- err })
	}
}

// dismiss ends the goroutine when its call is over; a nil runner has none.
func (r *runner) dismiss() {
	if r != nil {
		close(r.calls)
	}
}
