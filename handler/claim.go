package handler

import (
	"context"
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadline"
	"github.com/sqsafe/sqsafe/internal/usercall"
)

// claim requests the claim on a delivery's job from the ledger. After the cut a job is only
// taken to its verdict.
func (b *batch) claim(d *delivery, afterCut bool) {
	d.claimedAt = time.Now()
	b.times.claiming = append(b.times.claiming, d)
	ctx, cancel := b.jobs, context.CancelFunc(func() {})
	if afterCut {
		ctx, cancel = b.ledgerContext()
	}
	r := d.run
	b.assign(func() (end event) {
		defer cancel()
		var answer ClaimAnswer
		var lost <-chan struct{}
		usercall.Catch(
			func() error {
				answer = b.options.Ledger.Claim(ctx, r.message, r.identity, b.end)
				if answer.Claim != nil {
					lost = answer.Claim.Lost()
				}
				return b.readAnswer(ctx, r.message, &answer)
			},
			func(err error, p *usercall.Panic) {
				if err = asError(err, p); err != nil {
					answer = ClaimAnswer{Decided: b.resolver.storeFailed(r.message, err)}
				}
				end = b.endOf(p, func() { b.claimed(d, answer, lost) })
			},
		)
		return end
	})
}

// readAnswer checks the ledger's answer and completes a decided result.
func (p *Processor) readAnswer(ctx context.Context, m *Message, a *ClaimAnswer) error {
	switch {
	case a.Decided != nil:
		job := m.Job
		if a.Claim != nil {
			job, job.Key = a.Job, m.Job.Key
		}
		a.Decided = p.resolver.complete(ctx, m, job, a.Decided)
	case a.Claim == nil:
		return errNoAnswer
	}
	return nil
}

// claimed goes on with what the ledger has answered.
func (b *batch) claimed(d *delivery, answer ClaimAnswer, lost <-chan struct{}) {
	if i := slices.Index(b.times.claiming, d); i >= 0 {
		b.times.claiming = slices.Delete(b.times.claiming, i, i+1)
	}
	switch goesBack := b.queue.IsHead(d.index) || b.queue.IsOver(d.index); {
	case b.inTurn(d):
	case answer.Claim == nil, answer.Decided != nil && goesBack: // there is nothing to give back
		b.queue.Postponed(d.index)
		return
	case !goesBack:
		b.hold(d, func() { b.claimed(d, answer, lost) })
		return
	}
	d.claim = answer.Claim
	if d.claim != nil {
		answer.Job.Key = d.job.Key
		d.job = answer.Job
		d.message.Job, d.message.claimed = d.job, true
	}
	switch {
	case answer.Decided != nil && b.claimsAgain(d, answer.Decided):
		b.claim(d, true)
	case answer.Decided != nil:
		b.markSettling(d, false)
		b.conclude(d, answer.Decided)
	case answer.Refusal != nil && b.inTurn(d): // else it is given back
		b.markSettling(d, false)
		b.settle(d, func(ctx context.Context) Ending {
			return Ending{Result: b.resolver.resolve(ctx, d.message, nil, answer.Refusal)}
		})
	default:
		b.watchClaim(d, lost)
		b.queue.Claimed(d.index, answer.Unsettled, answer.Job.Crashes)
	}
}

// claimsAgain reports whether a claim that the cut has ended is made once more: at its
// last receive a job needs one for its verdict.
func (b *batch) claimsAgain(d *delivery, decided *Result) bool {
	now := time.Now() // the loop may not have noticed yet that a stage is reached
	isCut := b.table.Reached(deadline.Cut, now) && !b.table.Reached(deadline.Leave, now)
	return decided.Outcome == OutcomeDeferred && isCut && b.process.poisoned() == nil &&
		d.claimedAt.Before(b.table.At(deadline.Cut)) && b.queue.LastReceive(d.index)
}

// watchClaim lets a delivery go that waits when its claim is lost.
func (b *batch) watchClaim(d *delivery, lost <-chan struct{}) {
	if lost == nil {
		return
	}
	go func() {
		select {
		case <-lost:
			b.workers.post(func() { b.queue.Lost(d.index) })
		case <-b.over:
		}
	}()
}

// release releases a claim without a run.
func (b *batch) release(d *delivery, reason string) {
	res := b.deferred(d, reason)
	b.settle(d, func(context.Context) Ending { return Ending{Result: res} })
}

// deadLetterNotRun dead-letters a delivery that can no longer run at its last receive.
func (b *batch) deadLetterNotRun(d *delivery, reason string) {
	r := b.resolver.deferred(d.message, reason, nil)
	write := func(ctx context.Context) Ending {
		return Ending{Result: b.resolver.lastWord(ctx, d.message, nil, r)}
	}
	if d.claim != nil {
		b.settle(d, write)
		return
	}
	b.conclude(d, write(b.ctx).Result)
}
