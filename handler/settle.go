package handler

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
)

// ClockMargin is kept between what a claim allows and its end: two clocks may
// differ by that much.
const ClockMargin = 2 * time.Second

// ErrLeaseLapsed says that a dead letter was not sent because the claim on its
// job may be another's by now.
var ErrLeaseLapsed = errors.New("the claim on the job has lapsed")

// sendDead sends a pack of dead jobs to the dead-letter queue and marks the
// confirmed ones. It has a share of the turn: until the ledger knows of a letter,
// no suspect is to end the process.
func (b *batch) sendDead(pack []*entry) {
	ready, letters, lease := b.letters(pack)
	if len(ready) == 0 {
		return
	}
	ctx, cancel := b.invocation.sendContext(b.ctx, lease)
	defer cancel()
	turn := &b.options.Process.turn
	if ctx.Err() != nil || !turn.take(ctx, nil, false) {
		for _, e := range ready {
			b.unsent(e, context.Cause(ctx))
		}
		return
	}
	defer turn.giveBack(false)
	failed := b.ask(ctx, func() { b.options.DeadLetter.Send(ctx, letters) })
	settle, cancelSettle := b.invocation.settleContext(b.ctx)
	defer cancelSettle()
	eachOf(len(ready), confirmsUnderWay, func(i int) {
		if failed != nil { // the answers may still be written
			b.unsent(ready[i], failed)
			return
		}
		b.confirm(settle, ready[i], letters[i])
	})
}

// ask makes a call to a queue. Its error says that the call gave no answers.
func (b *batch) ask(ctx context.Context, call func()) error {
	_, err := within(ctx, b.invocation.late(), func() struct{} { call(); return struct{}{} })
	return err
}

// letters leaves out the jobs whose claim may have passed to another. Lease is
// the first to lapse of the others; zero without any.
func (b *batch) letters(dead []*entry) (ready []*entry, letters []Letter, lease time.Time) {
	for _, e := range dead {
		own := e.result.Lease
		if !own.IsZero() && time.Until(own) < ClockMargin {
			b.unsent(e, ErrLeaseLapsed)
			continue
		}
		if !own.IsZero() && (lease.IsZero() || own.Before(lease)) {
			lease = own
		}
		ready = append(ready, e)
		letters = append(letters, Letter{Message: e.message, Failure: *e.result.Failure})
	}
	return ready, letters, lease
}

// confirm follows the answer for one letter.
func (b *batch) confirm(ctx context.Context, e *entry, letter Letter) {
	if err := letter.Answer(); err != nil {
		b.unsent(e, err)
		return
	}
	e.sent = true
	if e.result.AfterSend != nil {
		answer, err := within(ctx, b.invocation.late(), func() error { return e.result.AfterSend(ctx, letter.DeadLetterID) })
		if err = cmp.Or(err, answer); err != nil {
			b.logError(e, "dead letter not confirmed in the ledger", err)
		}
	}
	b.logSent(e, letter.DeadLetterID)
	b.onDead(ctx, letter, letter.DeadLetterID)
}

// unsent leaves the job to a later delivery, which must not come before the
// claim has lapsed. The claims of a batch lapse together, so that only the jitter
// keeps its messages from coming back together.
func (b *batch) unsent(e *entry, err error) {
	b.logError(e, "dead letter not sent", err)
	delay := unrunBackoff.Delay(e.message.ReceiveCount(), b.options.Random)
	if !e.result.Lease.IsZero() {
		delay = max(delay, backoff.Spread(time.Until(e.result.Lease), backoff.DefaultJitter, b.options.Random))
	}
	e.result.Delay = delay
}

// hide makes failed messages come back after their delay. It runs last, since a
// message must not reappear while its batch still runs.
func (b *batch) hide() {
	if b.options.Queue == nil {
		return
	}
	ctx, cancel := b.invocation.settleContext(b.ctx)
	defer cancel()
	var hidden []*entry
	var changes []VisibilityChange
	for _, e := range b.entries {
		if e.acknowledged() || e.result.Delay <= 0 {
			continue
		}
		hidden = append(hidden, e)
		changes = append(changes, VisibilityChange{Message: e.message, Timeout: b.timeout(e)})
	}
	if len(changes) == 0 {
		return
	}
	failed := b.ask(ctx, func() { b.options.Queue.ChangeVisibility(ctx, changes) })
	b.logErrors(hidden, "visibility timeout not changed", func(i int) error {
		if failed != nil { // the answers may still be written
			return failed
		}
		return changes[i].Answer()
	})
}

// timeout is the delay as SQS takes it. Delays that were chosen are whole by now,
// rounded by chance. What is not is the rest of a claim, which must not end early:
// the message would find its job claimed. So it is rounded up.
func (b *batch) timeout(e *entry) time.Duration {
	whole := e.result.Delay.Truncate(time.Second)
	if whole < e.result.Delay {
		whole += time.Second
	}
	return backoff.Clamp(whole, e.message.age()).Truncate(time.Second)
}
