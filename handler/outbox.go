package handler

import "sync"

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
	waiting []*entry
	bytes   int
	sending int
	// urgent tells that a FIFO group waits for one of the letters.
	urgent bool
}

// add sends what fills a pack. A letter of a FIFO queue goes at once, since its
// group waits for it.
func (o *outbox) add(b *batch, e *entry) {
	o.waiting = append(o.waiting, e)
	o.bytes += len(e.message.Body)
	o.urgent = o.urgent || e.frail || e.fifo
	o.send(b, o.urgent)
}

// flush sends what waits, full pack or not, and tells whether calls are under way.
func (o *outbox) flush(b *batch) bool {
	o.send(b, true)
	return o.sending > 0
}

// send gives full packs, or all that waits, to the dead-letter queue while calls
// are to be had.
func (o *outbox) send(b *batch, all bool) {
	for len(o.waiting) > 0 && o.sending < packsUnderWay && (all || o.full()) {
		pack := o.pack()
		o.sending++
		go func() {
			b.sendDead(pack)
			b.signal(signal{sent: pack})
		}()
	}
	o.urgent = o.urgent && len(o.waiting) > 0
}

func (o *outbox) full() bool { return len(o.waiting) >= packLetters || o.bytes >= packBytes }

// pack takes out what fits into one call, and at least one letter.
func (o *outbox) pack() []*entry {
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

// delivered follows the answer of the dead-letter queue.
func (b *batch) delivered(pack []*entry) {
	b.outbox.sending--
	for _, e := range pack {
		b.outOfDanger(e)
		if e.fifo {
			b.leaveGroup(e)
		}
	}
	b.outbox.send(b, b.outbox.urgent)
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
