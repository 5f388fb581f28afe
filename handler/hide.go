package handler

import (
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/internal/deadline"
)

// flush hides the waiting messages at once if there is no deadline. A crash brings one, but
// what it defers is known at once.
func (h *hider) flush(b *batch) {
	if !b.end.IsZero() || b.stopping || len(h.waiting) == 0 {
		return
	}
	hidden := h.take()
	if len(hidden) == 0 {
		return
	}
	h.calls++
	table := b.table
	go func() {
		changes := b.changeVisibility(hidden, table)
		b.workers.post(func() {
			h.calls--
			b.logChanges(hidden, changes)
		})
	}()
}

// take takes out what can still be hidden. A message that was received twelve hours ago is
// visible by now, and SQS takes no timeout for it but 0, which is at once.
func (h *hider) take() []*delivery {
	hidden := slices.DeleteFunc(h.waiting, func(d *delivery) bool { return d.timeout() <= 0 })
	h.waiting = nil
	return hidden
}

// hideAll hides what is left at the end of the batch.
func (b *batch) hideAll() {
	for b.hider.calls > 0 {
		b.workers.wait()()
	}
	if hidden := b.hider.take(); len(hidden) > 0 {
		b.logChanges(hidden, b.changeVisibility(hidden, b.table))
	}
}

func (b *batch) changeVisibility(hidden []*delivery, table *deadline.Table) []VisibilityChange {
	changes := make([]VisibilityChange, len(hidden))
	for i, d := range hidden {
		changes[i] = VisibilityChange{Message: d.message, Timeout: d.timeout()}
	}
	ctx, cancel := b.stageContext(table, deadline.Hide)
	defer cancel()
	if err := callOnGoroutine(func() { b.options.Queue.ChangeVisibility(ctx, changes) }); err != nil {
		for i := range changes {
			changes[i].Err = err
		}
	}
	return changes
}

// timeout returns the delay in whole seconds, rounded up. The time until the end of a
// lease is not whole and must not become shorter, or the message comes back while its job
// is still claimed.
func (d *delivery) timeout() time.Duration {
	delay := min(d.result.Delay, backoff.MaxVisibility)
	whole := delay.Truncate(time.Second)
	if whole < delay {
		whole += time.Second
	}
	return backoff.Clamp(whole, d.message.age()).Truncate(time.Second)
}

func (b *batch) logChanges(hidden []*delivery, changes []VisibilityChange) {
	errs := make([]error, len(changes))
	for i := range changes {
		errs[i] = changes[i].Answer()
	}
	b.logErrors(hidden, "visibility timeout not changed", errs)
}

// deleteFinished deletes the finished messages before a crash. The batch has no response
// then, so Lambda does not delete them.
func (b *batch) deleteFinished() {
	if b.options.Queue == nil {
		return
	}
	if finished := b.acknowledged(b.deliveries); len(finished) > 0 {
		b.logDeletions(finished, b.deleteMessages(finished, b.table))
	}
}

// deleteDone deletes the done messages while other jobs of the batch run.
func (b *batch) deleteDone() {
	h := &b.hider
	done := b.acknowledged(h.done)
	h.done = nil
	if len(done) == 0 {
		return
	}
	h.calls++
	table := b.table
	go func() {
		deletions := b.deleteMessages(done, table)
		b.workers.post(func() {
			h.calls--
			b.logDeletions(done, deletions)
		})
	}()
}

// acknowledged returns those of the deliveries whose messages may be deleted: all their
// receives in the batch are acknowledged.
func (b *batch) acknowledged(deliveries []*delivery) []*delivery {
	back := b.comingBack()
	var acknowledged []*delivery
	for _, d := range deliveries {
		if d.acked.Load() && !back[d.record.MessageId] {
			acknowledged = append(acknowledged, d)
		}
	}
	return acknowledged
}

func (b *batch) deleteMessages(deliveries []*delivery, table *deadline.Table) []Deletion {
	deletions := make([]Deletion, len(deliveries))
	for i, d := range deliveries {
		deletions[i] = Deletion{Message: d.message}
	}
	ctx, cancel := b.stageContext(table, deadline.Hide)
	defer cancel()
	if err := callOnGoroutine(func() { b.options.Queue.Delete(ctx, deletions) }); err != nil {
		for i := range deletions {
			deletions[i].Err = err
		}
	}
	return deletions
}

func (b *batch) logDeletions(deliveries []*delivery, deletions []Deletion) {
	errs := make([]error, len(deletions))
	for i := range deletions {
		errs[i] = deletions[i].Answer()
	}
	b.logErrors(deliveries, "message not deleted", errs)
}
