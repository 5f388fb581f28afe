package handler

import (
	"time"

	"github.com/sqsafe/sqsafe/internal/usercall"
)

// startAlone runs a suspect while no other delivery of the process runs. Its crash is
// counted in the ledger before the run.
func (b *batch) startAlone(d *delivery) {
	d.active, d.alone = true, true
	b.process.forceBegin()
	b.times.lone = time.Now().Add(loneTime)
	b.launch(d)
}

// ask requests the process for a suspect, so that it can run alone. A suspect that has
// crashed before and has little time left is denied and comes back with another receive:
// it could be abandoned without being blamed. This does not apply to an urgent suspect,
// nor to one of a FIFO group, which would block the group.
func (b *batch) ask(d *delivery, hold bool) {
	now := time.Now()
	if d.job.Crashes > 0 && d.group == 0 && !b.queue.Urgent(d.index) && !b.table.HasMostOfItsTime(now) {
		b.queue.Denied(d.index)
		return
	}
	b.asking, b.holding = d.index, hold
	b.times.hold = now.Add(holdTime)
	b.takeAnswer(b.process.ask(b.processChanged, hold, now), now)
}

func (b *batch) askAgain() {
	now := time.Now()
	b.takeAnswer(b.process.ask(b.processChanged, b.holding, now), now)
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

// denyAlone ends the wait of a suspect that did not get the process.
func (b *batch) denyAlone(time.Time) {
	i := b.asking
	b.stopAsking(true)
	if i >= 0 {
		b.queue.Denied(i)
	}
}

func (b *batch) stopAsking(inVain bool) {
	b.process.retract(b.processChanged, inVain, time.Now())
	b.asking, b.times.hold = -1, time.Time{}
}

// endLone lets other deliveries start beside a lone run that takes long. The crash that
// was counted in advance is taken back first, and not while the claim is settled. With a
// deadline, and if no other invocation is kept out, the run stays alone to its end.
func (b *batch) endLone(now time.Time) {
	if b.table.Bounded() && !b.process.keepsOut() {
		b.times.lone = now.Add(loneTime)
		return
	}
	b.times.lone = time.Time{}
	i := b.queue.Lone()
	if i < 0 || !b.deliveries[i].alone || b.deliveries[i].phase != phaseRunning {
		return
	}
	d := b.deliveries[i]
	d.alone = false
	ctx, cancel := b.ledgerContext()
	counted := make(chan struct{})
	d.counted = counted
	go usercall.Catch(
		func() error {
			defer close(counted)
			defer cancel()
			return d.claim.CountCrash(ctx, false)
		},
		func(err error, p *usercall.Panic) {
			b.workers.post(func() {
				if err = asError(err, p); err != nil {
					b.logError(d, "crash counted ahead not taken back", err)
				}
				b.queue.LoneOver(d.index)
			})
		},
	)
}
