package handler

import (
	"time"

	"github.com/sqsafe/sqsafe/internal/runqueue"
)

// perform carries out the actions of the run queue until it returns none.
func (b *batch) perform() {
	b.queue.Breaker(b.breaker.isOpen())
	for {
		actions := b.queue.Next()
		if len(actions) == 0 && !b.resume() {
			break
		}
		for _, a := range actions {
			b.act(a, b.deliveries[a.Index])
		}
	}
	b.flushLetters()
	b.hider.flush(b)
}

func (b *batch) act(a runqueue.Action, d *delivery) {
	switch a.Kind {
	case runqueue.Decode:
		b.decode(d, a.Force)
	case runqueue.Claim:
		b.claim(d, b.times.cut)
	case runqueue.Start:
		b.startRun(d, a.Quiet)
	case runqueue.StartAlone:
		b.startAlone(d)
	case runqueue.Ask:
		b.ask(d, a.Hold)
	case runqueue.Withdraw:
		b.stopAsking(true)
	case runqueue.Free:
		b.times.lone = time.Time{}
		b.process.retract(b.processChanged, false, time.Now())
	case runqueue.AskProbe:
		granted := b.breaker.probe(d.message.ReceiveCount() == 1, time.Now())
		d.probe = granted
		b.queue.Probed(d.index, granted)
	case runqueue.Release:
		b.release(d, b.reasonOf(a))
	case runqueue.Bury:
		b.deadLetterNotRun(d, b.reasonOf(a))
	case runqueue.Defer:
		b.deferNow(d, b.reasonOf(a))
	}
}

var reasons = map[runqueue.Reason]string{
	runqueue.AfterCrash: ReasonAfterCrash, runqueue.GroupHead: ReasonGroupHead, runqueue.NoTime: ReasonNoTime,
	runqueue.Draining: ReasonCancelled, runqueue.Breaker: ReasonBreaker, runqueue.NoSlot: ReasonNoSlot,
	runqueue.NotAlone: ReasonNotAlone,
}

// reasonOf returns the reason why a delivery does not run. NoTime becomes cancelled if
// the host has cancelled the batch.
func (b *batch) reasonOf(a runqueue.Action) string {
	if a.Reason == runqueue.NoTime && b.stopping {
		return ReasonCancelled
	}
	return reasons[a.Reason]
}
