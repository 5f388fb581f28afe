package handler

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

// flushLetters sends full packs. It sends a pack that is not full if its oldest letter
// has waited long enough, if no more letters are expected, or if a FIFO group or a
// suspect waits for the letter.
func (b *batch) flushLetters() {
	o := &b.letters
	for len(o.waiting) > 0 && o.sending < packsUnderWay && (o.full() || o.waiting[0].group > 0 || b.queue.Flush() ||
		!time.Now().Before(o.due())) {
		pack := o.pack()
		o.sending++
		table := b.table
		answers := make([]sent, len(pack))
		go usercall.Catch(
			func() error { b.sendPack(pack, answers, table); return nil },
			func(error, *usercall.Panic) { b.workers.post(func() { b.delivered(pack, answers) }) },
		)
	}
}

// sent is the answer for one letter: the message id in the dead-letter queue or an error,
// and the error of the confirming write to the ledger.
type sent struct {
	id          string
	err         error
	unconfirmed error
}

var errLeaseOver = errors.New("the claim on the job may be another delivery's by now")

// sendPack sends the letters of a pack and confirms them in the ledger. A letter counts
// as not sent if the call ends its goroutine before the answer.
func (b *batch) sendPack(pack []*delivery, out []sent, table *deadline.Table) {
	for i := range out {
		out[i].err = ErrUnanswered
	}
	letters := make([]Letter, 0, len(pack))
	at := make([]int, 0, len(pack)) // of a letter in the pack
	stage, cancelStage := b.stageContext(table, deadline.Letters)
	defer cancelStage()
	until, _ := stage.Deadline()
	for i, d := range pack {
		lease := d.leaseEnd()
		if !lease.IsZero() && !time.Now().Before(lease) {
			out[i].err = errLeaseOver
			continue
		}
		if !lease.IsZero() && lease.Before(until) {
			until = lease
		}
		letters, at = append(letters, Letter{Message: d.message, Failure: *d.result.Failure}), append(at, i)
	}
	if len(letters) == 0 {
		return
	}
	ctx, cancel := context.WithDeadline(stage, until)
	defer cancel()
	failed := catchPanic(func() error { b.options.DeadLetter.Send(ctx, letters); return nil })
	arrived := make([]*delivery, 0, len(letters))
	for i := range letters {
		d, o := pack[at[i]], &out[at[i]]
		if o.err = cmp.Or(failed, letters[i].Answer()); o.err == nil {
			o.id = letters[i].DeadLetterID
			d.acked.Store(true) // whatever becomes of the confirming write
			arrived = append(arrived, d)
		}
	}
	if pack[0].group > 0 {
		b.workers.post(func() { b.arrived(arrived) })
	}
	confirm, cancelConfirm := b.stageContext(table, deadline.Letters)
	defer cancelConfirm()
	eachOf(len(letters), confirmsUnderWay, func(i int) {
		d, o := pack[at[i]], &out[at[i]]
		if o.err == nil && d.claim != nil && !d.noVerdict {
			o.unconfirmed = catchPanic(func() error { return d.claim.Confirm(confirm, o.id) })
		}
	})
}

// arrived lets FIFO groups go on whose letters have arrived. They do not wait for the
// confirming writes.
func (b *batch) arrived(letters []*delivery) {
	for _, d := range letters {
		b.queue.Sent(d.index)
	}
}

// delivered handles the answers of the dead-letter queue. After a confirmed send the
// message is acknowledged, even if the ledger was not updated.
func (b *batch) delivered(pack []*delivery, answers []sent) {
	b.letters.sending--
	for i, d := range pack {
		answer := answers[i]
		if d.sent = answer.err == nil; !d.sent {
			d.result.Until = d.claimEnd()
			d.result.Delay = max(d.result.Delay, b.resolver.deferral(d.message, ""))
			b.resolver.setDelay(d.message, d.result)
		}
		b.finish(d)
	}
	for i, d := range pack { // the logger may be what hangs, so it comes last
		answer := answers[i]
		if !d.sent {
			b.logError(d, "dead letter not sent", answer.err)
			continue
		}
		if answer.unconfirmed != nil {
			b.logError(d, "dead letter not confirmed in the ledger", answer.unconfirmed)
		}
		b.logSent(d, answer.id)
		b.callOnDead(d, answer.id)
	}
}

// eachOf calls f for 0 to n-1, with at most parallel calls at a time.
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
