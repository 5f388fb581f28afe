package handler

import (
	"context"
	"errors"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
)

// ClockMargin is kept between what a claim allows and its end: two clocks may
// differ by that much.
const ClockMargin = 2 * time.Second

// ErrUnanswered says that a queue did not answer for one of several messages.
var ErrUnanswered = errors.New("the queue did not answer for this message")

// ErrLeaseLapsed says that a dead letter was not sent because the claim on its
// job may be another's by now.
var ErrLeaseLapsed = errors.New("the claim on the job has lapsed")

// settle tells the queues what was decided. What cannot be told stays reported,
// so it comes back.
func (b *batch) settle() {
	var dead []*entry
	for _, e := range b.entries {
		if e.result.Outcome == OutcomeDead && !e.sent && !e.message.FIFO() {
			dead = append(dead, e)
		}
	}
	b.sendDead(dead)
	b.hide()
}

// sendDead sends dead jobs to the dead-letter queue and marks the confirmed ones.
func (b *batch) sendDead(dead []*entry) {
	if len(dead) == 0 || b.options.DeadLetter == nil {
		return
	}
	ready, letters := b.letters(dead)
	answers := b.send(letters)
	ctx, cancel := b.invocation.settleContext(b.ctx)
	defer cancel()
	for i, e := range ready {
		answer := Sent{Err: ErrUnanswered}
		if i < len(answers) {
			answer = answers[i]
		}
		b.confirm(ctx, e, answer)
	}
}

func (b *batch) send(letters []Letter) []Sent {
	ctx, cancel := b.invocation.sendContext(b.ctx)
	defer cancel()
	return b.options.DeadLetter.Send(ctx, letters)
}

// letters leaves out the jobs whose claim may have passed to another.
func (b *batch) letters(dead []*entry) (ready []*entry, letters []Letter) {
	for _, e := range dead {
		lease := e.result.Lease
		if !lease.IsZero() && time.Until(lease) < ClockMargin {
			b.unsent(e, ErrLeaseLapsed)
			continue
		}
		ready = append(ready, e)
		letters = append(letters, Letter{Message: e.message, Failure: *e.result.Failure})
	}
	return ready, letters
}

func (b *batch) confirm(ctx context.Context, e *entry, sent Sent) {
	if sent.Err != nil {
		b.unsent(e, sent.Err)
		return
	}
	e.sent = true
	b.logSent(e, sent)
	if e.result.AfterSend == nil {
		return
	}
	if err := e.result.AfterSend(ctx, sent.MessageID); err != nil {
		b.logError(e, "dead letter not confirmed in the ledger", err)
	}
}

// unsent leaves the job to a later delivery, which must not come before the
// claim has lapsed.
func (b *batch) unsent(e *entry, err error) {
	b.logError(e, "dead letter not sent", err)
	delay := unrunBackoff.Delay(e.message.ReceiveCount(), b.options.Random)
	if !e.result.Lease.IsZero() {
		delay = max(delay, time.Until(e.result.Lease))
	}
	e.result.Delay = delay
}

// hide makes failed messages come back after their delay. It runs last, since a
// message must not reappear while its batch still runs.
func (b *batch) hide() {
	if b.options.Source == nil {
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
	b.logErrors(hidden, "visibility timeout not changed", b.options.Source.ChangeVisibility(ctx, changes))
}

// timeout is the delay as SQS takes it. What is not whole by now must not end
// early, so it is rounded up.
func (b *batch) timeout(e *entry) time.Duration {
	whole := e.result.Delay.Truncate(time.Second)
	if whole < e.result.Delay {
		whole += time.Second
	}
	return backoff.Clamp(whole, e.message.age()).Truncate(time.Second)
}
