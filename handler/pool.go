package handler

import (
	"sync"

	"github.com/sqsafe/sqsafe/internal/usercall"
)

// event is what a goroutine has for the event loop, which calls it.
type event func()

// task is work for a worker. It returns its last event.
type task func() event

// pool has the workers of a batch: goroutines that run tasks. The event loop has no goroutine
// of its own. A worker that has an event enters the loop, if no other worker is in it, and
// handles what is posted meanwhile. So a worker that ends a task mostly finds its next one
// itself, without a switch between goroutines. A pool is safe for concurrent use.
type pool struct {
	// loop handles an event and then those of next. It returns the worker's own next task; nil
	// for none. failed is called with a panic in the loop.
	loop   func(event) task
	failed func(*usercall.Panic)

	mu sync.Mutex
	// posted are the events that wait, from the index first on. arrived is signalled when
	// there is one more.
	posted  []event
	first   int
	arrived sync.Cond
	// busy reports whether a worker is in the loop, closed whether the loop has ended.
	busy, closed bool
	// idle is the number of workers that wait for tasks, or are about to.
	idle  int
	tasks chan task
}

// begin starts the first worker, in the loop.
func (p *pool) begin(loop func(event) task, failed func(*usercall.Panic), first event) {
	p.loop, p.failed = loop, failed
	p.arrived.L, p.tasks, p.busy = &p.mu, make(chan task, 1), true
	go p.work(func() task { return loop(first) })
}

// close ends the loop and releases the idle workers. It returns false if that was done
// before.
func (p *pool) close() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.busy, p.closed = false, true
	close(p.tasks)
	return true
}

// post passes an event to the loop; it is dropped after the end. A task does not post its
// last event but returns it, so that its worker can enter the loop with it.
func (p *pool) post(e event) {
	p.mu.Lock()
	queued := p.enqueue(e)
	p.mu.Unlock()
	if !queued {
		p.give(func() event { return e })
	}
}

// enqueue adds an event for the worker in the loop. It returns false if the caller has to
// bring the event into the loop, since no worker is in it. After the end the event is
// dropped. The caller holds mu.
func (p *pool) enqueue(e event) bool {
	if p.busy {
		p.posted = append(p.posted, e)
		p.arrived.Signal()
	}
	return p.busy || p.closed
}

// enter lets a worker with an event into the loop. If another worker is in it, that one gets
// the event; enter returns false then, and the worker is idle.
func (p *pool) enter(e event) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.enqueue(e) {
		p.idle++
		return false
	}
	p.busy = true
	return true
}

// next returns the next event to the worker in the loop. If there is none, the worker is out
// of the loop: it runs its own task, or is idle without one.
func (p *pool) next(own task) (event, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.pop()
	if p.busy = ok; !ok && own == nil {
		p.idle++
	}
	return e, ok
}

// take returns the next event, if there is one, to the worker in the loop.
func (p *pool) take() (event, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pop()
}

// wait returns the next event, as soon as there is one, to the worker in the loop.
func (p *pool) wait() event {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if e, ok := p.pop(); ok {
			return e
		}
		p.arrived.Wait()
	}
}

func (p *pool) pop() (event, bool) {
	if p.first == len(p.posted) {
		p.posted, p.first = p.posted[:0], 0
		return nil, false
	}
	e := p.posted[p.first]
	p.posted[p.first] = nil
	p.first++
	return e, true
}

// give runs a task on an idle worker, or on a new one. User code and the AWS clients need
// deep stacks, and growing a new stack for each message costs more than a small job.
func (p *pool) give(t task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle > 0 && !p.closed {
		p.idle--
		p.tasks <- t // an idle worker is there, or about to be
		return
	}
	go p.work(func() task { return t })
}

// work is a worker. It ends with the batch, or when a task ends its goroutine.
func (p *pool) work(first func() task) {
	reserveStack(0) // first, while there is little to copy
	inTask := false
	usercall.Catch(
		func() error {
			for t := first(); ; {
				if t == nil {
					t = <-p.tasks
				}
				if t == nil {
					return nil
				}
				inTask = true
				end := t()
				inTask = false
				if t = nil; p.enter(end) {
					t = p.loop(end)
				}
			}
		},
		func(_ error, panicked *usercall.Panic) {
			if panicked != nil && (!panicked.Goexit || !inTask) {
				p.failed(panicked)
			}
		},
	)
}

// reserveStack grows the stack of a new worker at once to the size that decoding needs.
// Growth by doubling copies all frames each time, a quarter of the cost of a batch with
// one message.
//
//go:noinline
func reserveStack(at int) byte {
	var room [12 << 10]byte
	return room[at]
}
