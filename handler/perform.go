package handler

import (
	"time"

	"github.com/sqsafe/sqsafe/internal/runqueue"
)

// perform carries out what the run queue asks for, until it asks for nothing more.
func (b *batch) perform() {
	b.queue.Breaker(b.breaker.isOpen())
	for {
		actions := b.queue.Next()
		if len(actions) == 0 {
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
		b.claim(d)
	case runqueue.Start:
		b.startRun(d, a.Quiet)
	case runqueue.StartAlone:
		b.startAlone(d)
	case runqueue.Ask:
		b.ask(d, a.Hold)
	case runqueue.Withdraw:
		b.stopAsking(false)
	case runqueue.Free:
		b.times.lone = time.Time{}
		b.process.retract(b, false, time.Now())
	case runqueue.AskProbe:
		granted := b.breaker.probe(d.message.ReceiveCount() == 1, time.Now())
		d.probe = granted
		b.queue.Probed(d.index, granted)
	case runqueue.Release:
		b.release(d, reasons[a.Reason])
	case runqueue.Bury:
		b.bury(d, reasons[a.Reason])
	case runqueue.Defer:
		b.deferNow(d, reasons[a.Reason])
	}
}

var reasons = map[runqueue.Reason]string{
	runqueue.AfterCrash: ReasonAfterCrash, runqueue.GroupHead: ReasonGroupHead, runqueue.NoTime: ReasonNoTime,
	runqueue.Draining: ReasonCancelled, runqueue.Breaker: ReasonBreaker, runqueue.NoSlot: ReasonNoSlot,
	runqueue.NotAlone: ReasonNotAlone,
}

// enter counts a delivery as at work in the process, unless that is taken.
func (b *batch) enter(d *delivery, quiet bool) bool {
	if d.atWork {
		return true
	}
	if quiet && !d.quietSince.IsZero() && time.Since(d.quietSince) >= quietTime {
		quiet = false
	}
	if !b.process.begin(quiet) {
		if quiet && d.quietSince.IsZero() {
			d.quietSince = time.Now()
			b.times.quiet = d.quietSince.Add(quietTime)
		}
		b.queue.Refused(d.index)
		return false
	}
	d.atWork = true
	return true
}

// leaveWork counts a delivery off that waits, or has ended.
func (b *batch) leaveWork(d *delivery) {
	if d.atWork {
		b.process.end(d.settling)
		d.atWork, d.settling = false, false
	}
}

// toSettle notes that a delivery has its result and that the ledger is to learn it.
func (b *batch) toSettle(d *delivery, ran bool) {
	if d.atWork && !d.settling {
		d.settling = true
		b.process.settle()
	}
	b.queue.Settling(d.index, ran)
}

// ask asks for the process for a suspect.
func (b *batch) ask(d *delivery, hold bool) {
	now := time.Now()
	b.asking, b.holding = d.index, hold
	b.times.hold = now.Add(holdTime)
	b.takeAnswer(b.process.ask(b, hold, now), now)
}

func (b *batch) askAgain() {
	now := time.Now()
	b.takeAnswer(b.process.ask(b, b.holding, now), now)
}

func (b *batch) takeAnswer(answer askResult, now time.Time) {
	switch answer {
	case askGranted:
		i := b.asking
		b.asking, b.times.hold = -1, time.Time{}
		b.queue.Granted(i)
	case askDenied:
		b.denyAlone(now)
	}
}

// denyAlone ends the wait of a suspect in vain.
func (b *batch) denyAlone(time.Time) {
	i := b.asking
	b.stopAsking(true)
	if i >= 0 {
		b.queue.Denied(i)
	}
}

func (b *batch) stopAsking(inVain bool) {
	b.process.retract(b, inVain, time.Now())
	b.asking, b.times.hold = -1, time.Time{}
}
