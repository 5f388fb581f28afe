package handler

import (
	"cmp"
	"slices"
)

// A payload whose decoding ends the process leaves no mark in the ledger, and no
// invocation that has it answers: messages that come with it again and again use
// up their receives though they are done. On a busy queue they soon come with
// others; on a quiet one the batch stays together. So when all messages of a
// batch have used up three quarters of their receives, they are taken one at a
// time, and each is deleted before the next is decoded. The order turns round
// from one receive to the next: what stands behind such a payload in the one
// stands before it in the other.

// frail tells whether three quarters of the message's receives are used up.
func (rs *resolver) frail(m *Message) bool {
	return rs.options.MaxReceives > 0 && 4*m.ReceiveCount() >= 3*rs.options.MaxReceives
}

// findFrail marks the messages of a batch in which all are frail.
func (b *batch) findFrail() {
	most := 0
	for _, e := range b.entries {
		if !b.resolver.frail(e.message) {
			return
		}
		most = max(most, e.message.ReceiveCount())
	}
	if len(b.entries) < 2 || b.options.Queue == nil {
		return
	}
	b.frail, b.backwards = len(b.entries), most%2 == 1
	for _, e := range b.entries {
		e.frail = true
	}
}

// compareFrail orders frail messages by their ids, those of FIFO queues by their
// groups, forwards at the one receive and backwards at the next.
func (b *batch) compareFrail(x, y *entry) int {
	name := func(e *entry) string {
		if e.fifo {
			return e.group
		}
		return e.record.MessageId
	}
	if b.backwards {
		x, y = y, x
	}
	return cmp.Compare(name(x), name(y))
}

// places is how many messages may run at a time for now. A dead letter of a frail
// message under way takes its place.
func (b *batch) places() int {
	if b.frail > 0 {
		return 1 - min(b.outbox.sending, 1)
	}
	return b.options.Concurrency
}

// outOfDanger deletes a frail message that is acknowledged, and counts it off.
func (b *batch) outOfDanger(e *entry) {
	if !e.frail {
		return
	}
	e.frail = false
	b.frail--
	if e.acknowledged() && !b.comingBack()[e.record.MessageId] {
		b.delete([]*entry{e})
	}
}

// delete deletes acknowledged messages before the batch is answered.
func (b *batch) delete(finished []*entry) {
	finished = slices.DeleteFunc(finished, func(e *entry) bool { return e.deleted })
	if len(finished) == 0 {
		return
	}
	deletions := make([]Deletion, len(finished))
	for i, e := range finished {
		deletions[i].Message, e.deleted = e.message, true
	}
	ctx, cancel := b.invocation.settleContext(b.ctx)
	defer cancel()
	failed := b.ask(ctx, func() { b.options.Queue.Delete(ctx, deletions) })
	b.logErrors(finished, "message not deleted", func(i int) error {
		if failed != nil { // the answers may still be written
			return failed
		}
		return deletions[i].Answer()
	})
}
