package handler

import (
	"context"
	"log/slog"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadline"
)

// setTimer sets the timer to the next time at which the loop has to act.
func (b *batch) setTimer() {
	next := b.nextTime()
	if next.Equal(b.times.next) {
		return
	}
	b.times.next = next
	if next.IsZero() {
		b.timer.Stop()
		return
	}
	b.timer.Reset(time.Until(next))
}

func (b *batch) nextTime() time.Time {
	t := &b.times
	var next time.Time
	consider := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if b.table.Bounded() {
		switch {
		case !t.cut:
			if !t.late {
				consider(t.lastStart)
			} else if !t.hopeless {
				consider(t.lastChance)
			}
			consider(b.table.At(deadline.Cut))
		case !t.abandoned:
			consider(b.table.At(deadline.Leave))
		}
	} else {
		if b.queue.Waiting() {
			consider(t.lastFreed.Add(stallTime))
		}
		consider(b.hider.deleteAt())
	}
	consider(t.hold)
	consider(t.lone)
	consider(t.quiet)
	consider(b.letters.due())
	if len(t.claiming) > 0 {
		consider(t.claiming[0].claimedAt.Add(slowClaim))
	}
	return next
}

// passTime handles the points in time that have passed.
func (b *batch) passTime(now time.Time) {
	t := &b.times
	passed := func(at time.Time) bool { return !at.IsZero() && !now.Before(at) }
	if b.table.Bounded() {
		b.passLastStart(now)
		if !t.cut && b.table.Reached(deadline.Cut, now) {
			b.cut()
		}
		if !t.abandoned && b.table.Reached(deadline.Leave, now) {
			t.abandoned = true
			b.queue.VerdictsOver()
			b.handlePosted() // what has ended is not to be left behind
			b.abandonDeliveries()
		}
	} else {
		if b.queue.Waiting() && passed(t.lastFreed.Add(stallTime)) {
			t.lastFreed = now
			b.queue.Stalled()
		}
		if passed(b.hider.deleteAt()) {
			b.deleteDone()
		}
	}
	if passed(t.hold) {
		b.denyAlone(now)
	}
	if passed(t.lone) {
		b.endLone(now)
	}
	if passed(t.quiet) {
		t.quiet = time.Time{}
		b.queue.Freed()
	}
	for len(t.claiming) > 0 && passed(t.claiming[0].claimedAt.Add(slowClaim)) {
		b.queue.Slow(t.claiming[0].index)
		t.claiming = t.claiming[1:]
	}
}

// onCancelled handles the host's cancellation: running jobs are cancelled now.
func (b *batch) onCancelled() {
	if b.ctx.Err() != context.Canceled && b.table.Bounded() {
		b.passTime(time.Now()) // the deadline itself has passed, and the cut before it
		return
	}
	b.stopping = true
	table := b.table.Cancelled(time.Now())
	b.table = &table
	b.queue.Drain()
	b.passTime(time.Now())
}

// onProcessChanged tries again what the process has refused.
func (b *batch) onProcessChanged() {
	if b.process.poisoned() != nil {
		b.queue.Poison()
	}
	if b.asking >= 0 {
		b.askAgain()
	}
	b.queue.Freed()
}

// warnOfPastDeadline logs that the deadline had passed before the invocation began.
func (b *batch) warnOfPastDeadline() {
	b.options.Logger.LogAttrs(b.ctx, slog.LevelWarn, "deadline had passed when the invocation began",
		slog.Float64("secondsAgo", b.start.Sub(b.table.End()).Seconds()),
		slog.String("effect", "no message is run; all of them come back"),
		slog.String("remedy", "compare the clock of this machine with that of the host, such as a container "+
			"of an emulator, which names the deadline in Lambda-Runtime-Deadline-Ms"))
}
