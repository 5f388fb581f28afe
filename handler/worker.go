package handler

import "github.com/sqsafe/sqsafe/internal/usercall"

// maxIdle is how many tasks may wait for a worker that is about to be idle.
const maxIdle = 64

// assign runs a task on a worker, which is a goroutine that the batch uses again: user
// code and the clients of AWS need deep stacks, and to grow one anew for each message
// costs more than small jobs do.
func (b *batch) assign(task func()) {
	if b.idle > 0 {
		b.idle--
		b.tasks <- task // has room for all that are idle
		return
	}
	go func() {
		reserveStack(0)
		for more := true; more; task, more = <-b.tasks {
			task()
		}
	}()
}

// reserveStack grows the stack of a worker to what decoding needs, at once instead of
// by doubling: each time all frames are copied. That is a quarter of what a batch of one
// message costs.
//
//go:noinline
func reserveStack(at int) byte {
	var room [12 << 10]byte
	return room[at]
}

// postEnd hands the last event of a task to the loop. Its worker is idle then, unless
// the task has ended it by runtime.Goexit.
func (b *batch) postEnd(p *usercall.Panic, take func()) {
	b.post(event{take: take, idle: p == nil || !p.Goexit})
}
