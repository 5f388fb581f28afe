package handler

import "sync"

const (
	// packLetters and packBytes are what one call to SQS takes: 10 messages of
	// 1,048,576 bytes in all (SQS quotas).
	packLetters = 10
	packBytes   = 1 << 20
	// packsUnderWay bounds the calls that are made while messages run.
	packsUnderWay = 4
	// confirmsUnderWay bounds the confirming writes that follow one call.
	confirmsUnderWay = 8
)

// outbox gathers dead letters and sends them in packs while other messages run.
type outbox struct {
	waiting []*entry
	bytes   int
	sending int
}

// add sends what fills a pack. A letter of a FIFO queue goes at once, since its
// group waits for it.
func (o *outbox) add(b *batch, e *entry) {
	o.waiting = append(o.waiting, e)
	o.bytes += len(e.message.Body)
	if e.message.FIFO() || o.full() && o.sending < packsUnderWay {
		o.flush(b)
	}
}

func (o *outbox) full() bool { return len(o.waiting) >= packLetters || o.bytes >= packBytes }

// flush sends all that waits, and tells whether that was anything.
func (o *outbox) flush(b *batch) bool {
	if len(o.waiting) == 0 {
		return false
	}
	dead := o.waiting
	o.waiting, o.bytes = nil, 0
	o.sending++
	go func() {
		b.sendDead(dead)
		b.signals <- signal{sent: dead}
	}()
	return true
}

// delivered follows the answer of the dead-letter queue.
func (b *batch) delivered(dead []*entry) {
	b.outbox.sending--
	for _, e := range dead {
		if e.message.FIFO() {
			b.leaveGroup(e)
		}
	}
	if b.outbox.full() {
		b.outbox.flush(b)
	}
}

// eachOf calls f for 0 to n-1, a bounded number at a time.
func eachOf(n, parallel int, f func(i int)) {
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
