package handler

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadline"
)

const (
	// packLetters and packBytes are what one call to SQS takes: 10 messages of
	// 1,048,576 bytes in all (SQS quotas).
	packLetters = 10
	packBytes   = 1 << 20
	// packsUnderWay bounds the calls to the dead-letter queue.
	packsUnderWay = 4
	// confirmsUnderWay bounds the confirming writes that follow one call.
	confirmsUnderWay = 8
)

// outbox gathers dead letters and sends them in packs while other messages run.
type outbox struct {
	waiting []*delivery
	bytes   int
	sending int
}

func (o *outbox) isEmpty() bool { return len(o.waiting) == 0 && o.sending == 0 }

// add puts a letter into the outbox. The next call of flushLetters sends it.
func (o *outbox) add(_ *batch, d *delivery) {
	o.waiting = append(o.waiting, d)
	o.bytes += len(d.message.Body)
}

// flushLetters sends what fills a pack, and the rest too if nobody is about to fill
// it: a FIFO group waits for its letter, and so does a suspect.
func (b *batch) flushLetters() {
	o := &b.letters
	for len(o.waiting) > 0 && o.sending < packsUnderWay && (o.full() || o.waiting[0].group > 0 || b.queue.Flush()) {
		pack := o.pack()
		o.sending++
		go func() {
			done := b.sendPack(pack)
			b.post(func() { b.delivered(pack, done) })
		}()
	}
}

func (o *outbox) full() bool { return len(o.waiting) >= packLetters || o.bytes >= packBytes }

// pack takes out what fits into one call, and at least one letter.
func (o *outbox) pack() []*delivery {
	n, bytes := 0, 0
	for n < min(len(o.waiting), packLetters) {
		size := len(o.waiting[n].message.Body)
		if n > 0 && bytes+size > packBytes {
			break
		}
		bytes += size
		n++
	}
	pack := o.waiting[:n:n]
	o.waiting, o.bytes = o.waiting[n:], o.bytes-bytes
	return pack
}

// sent is what became of one letter: the id that the dead-letter queue gave, or why
// there is none, and why the ledger was not told.
type sent struct {
	id          string
	err         error
	unconfirmed error
}

var errLeaseOver = errors.New("the claim on the job may be another delivery's by now")

// sendPack sends the letters of a pack and confirms them in the ledger.
func (b *batch) sendPack(pack []*delivery) []sent {
	out := make([]sent, len(pack))
	letters := make([]Letter, 0, len(pack))
	at := make([]int, 0, len(pack)) // of a letter in the pack
	ctx, cancel := b.contextUntil(deadline.Letters)
	defer cancel()
	for i, d := range pack {
		lease := d.leaseEnd()
		if !lease.IsZero() && !time.Now().Before(lease) {
			out[i].err = errLeaseOver
			continue
		}
		if until, ok := ctx.Deadline(); ok && !lease.IsZero() && lease.Before(until) {
			var stop context.CancelFunc
			ctx, stop = context.WithDeadline(ctx, lease)
			defer stop()
		}
		letters, at = append(letters, Letter{Message: d.message, Failure: *d.result.Failure}), append(at, i)
	}
	if len(letters) == 0 {
		return out
	}
	failed := catchPanic(func() error { b.options.DeadLetter.Send(ctx, letters); return nil })
	confirm, cancelConfirm := b.contextUntil(deadline.Letters)
	defer cancelConfirm()
	eachOf(len(letters), confirmsUnderWay, func(i int) {
		o := &out[at[i]]
		if o.err = cmp.Or(failed, letters[i].Answer()); o.err != nil {
			return
		}
		o.id = letters[i].DeadLetterID
		if claim := pack[at[i]].claim; claim != nil {
			o.unconfirmed = catchPanic(func() error { return claim.Confirm(confirm, o.id) })
		}
	})
	return out
}

// leaseEnd is until when a letter may be sent; zero without a limit.
func (d *delivery) leaseEnd() time.Time {
	if d.claim == nil {
		return time.Time{}
	}
	return d.claim.Lease()
}

// clockMargin is what a ledger takes off its leases for the difference of two clocks.
const clockMargin = 2 * time.Second

// claimEnd is from when another delivery may have the job; zero without a limit.
func (d *delivery) claimEnd() time.Time {
	lease := d.leaseEnd()
	if lease.IsZero() {
		return lease
	}
	return lease.Add(clockMargin)
}

// delivered takes in the answer of the dead-letter queue. After a confirmed send the
// message is acknowledged, whatever the ledger has answered.
func (b *batch) delivered(pack []*delivery, answers []sent) {
	b.letters.sending--
	for i, d := range pack {
		answer := answers[i]
		if answer.err != nil {
			b.logError(d, "dead letter not sent", answer.err)
			d.result.Until = d.claimEnd()
			d.result.Delay = max(d.result.Delay, b.resolver.deferral(d.message, ""))
			b.resolver.setDelay(d.message, d.result)
			b.finish(d)
			continue
		}
		d.sent = true
		if answer.unconfirmed != nil {
			b.logError(d, "dead letter not confirmed in the ledger", answer.unconfirmed)
		}
		b.logSent(d, answer.id)
		b.tellDead(d, answer.id)
		b.finish(d)
	}
}

// eachOf calls f for 0 to n-1, a bounded number at a time.
func eachOf(n, parallel int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	slots := make(chan struct{}, parallel)
	var running sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	running.Wait()
}
