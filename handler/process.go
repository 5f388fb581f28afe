package handler

import (
	"sync"
	"time"
)

// Process is what the invocations of one operating system process share: whose
// turn it is, and whether the process can still be trusted. The zero value is
// ready for use, and it is safe for concurrent use. It must not be copied.
//
// Processors of one program share one, by [Options]: a job that is suspected of
// ending its process runs while no other does, and when one has crashed nothing
// more is started by any of them.
type Process struct {
	turn turn

	mu          sync.Mutex
	invocations int
	doubt       *Result
}

// enter counts an invocation, and tells what put the process in doubt before it
// began; nil if nothing has.
func (p *Process) enter() (doubt *Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.invocations++
	return p.doubt
}

func (p *Process) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.invocations--
}

// distrust notes what put the process in doubt. The first stands.
func (p *Process) distrust(r *Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doubt == nil {
		p.doubt = r
	}
}

// distrusted is what put the process in doubt; nil if nothing has.
func (p *Process) distrusted() *Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.doubt
}

// watch ends the process at the latest when the claims of an invocation that
// crashed lapse, if others hold it up: the Lambda runtime waits for all of them.
func (p *Process) watch(deadline time.Time, exit func()) {
	if deadline.IsZero() {
		return
	}
	time.AfterFunc(time.Until(deadline), func() {
		if p.busy() {
			exit()
		}
	})
}

func (p *Process) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.invocations > 0
}
