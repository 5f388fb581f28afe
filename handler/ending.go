package handler

import (
	"context"
	"sync"
	"time"
)

// crashGrace is how long messages that run beside one that crashed may take.
const crashGrace = 5 * time.Second

// ending is how a batch comes to its end whatever its messages do. At the cut
// they are cancelled; after a grace their calls are left behind, so that
// middleware can say so; after another one the messages are given up. A crash
// moves the cut nearer.
type ending struct {
	cut, draining <-chan struct{}
	timer         *time.Timer
	next          func()
	leave         func()
	apart         *time.Timer
}

func (n *ending) begin(b *batch) {
	n.cut, n.draining = b.jobs.Done(), b.draining
	n.leave = sync.OnceFunc(func() { close(b.left) })
	n.next = b.abandon
	if !b.invocation.bounded() {
		n.timer = time.NewTimer(0)
		n.timer.Stop()
		return
	}
	// Not before the first message had a moment, though it came too late.
	cut := max(time.Until(b.invocation.cut()), 0)
	n.apart = time.AfterFunc(cut+b.invocation.grace(), n.leave)
	n.timer = time.NewTimer(cut + 2*b.invocation.grace())
}

func (n *ending) stop() {
	n.timer.Stop()
	if n.apart != nil {
		n.apart.Stop()
	}
}

// hasten is for a crash: what runs beside it is cut off soon.
func (n *ending) hasten(b *batch, cancel context.CancelFunc) {
	grace := min(b.invocation.grace(), crashGrace)
	if b.invocation.bounded() && time.Until(b.invocation.cut()) <= crashGrace {
		return
	}
	n.timer.Reset(crashGrace)
	n.next = func() {
		cancel()
		n.timer.Reset(grace)
		n.next = func() {
			n.leave()
			n.timer.Reset(grace)
			n.next = b.abandon
		}
	}
}
