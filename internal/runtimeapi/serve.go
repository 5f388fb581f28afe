package runtimeapi

import (
	"errors"
	"time"
)

func (f *Function) serve(inv *invocation) {
	defer func() { <-f.slots }()
	for {
		p, fresh, err := f.enter(inv)
		if err != nil {
			f.finish(inv, 0, answer{err: err})
			return
		}
		if fresh {
			p.startUp(f.options.InitTimeout)
		}
		if e := p.initFailure(inv); e != nil {
			f.finish(inv, 0, answer{err: e})
			return
		}
		if f.run(p, inv) {
			return
		}
		if fresh {
			e := inv.exited(p)
			e.addExit(p)
			f.finish(inv, p.cmd.Process.Pid, answer{err: e})
			return
		}
	}
}

// run passes the invocation to the process. It returns false if the process
// ended before it could take the invocation.
func (f *Function) run(p *process, inv *invocation) bool {
	defer f.leave(p)
	limit := f.options.Timeout
	timer := time.NewTimer(limit)
	defer timer.Stop()
	a, taken := f.deliver(p, inv, timer)
	if !taken {
		return false
	}
	pid, told := p.cmd.Process.Pid, false
	if a.err == nil || p.shared() {
		f.finish(inv, pid, a) // the caller need not wait until the process requests its next event
		told = true
	}
	alive := p.awaitNext(timer, limit)
	if told {
		return true
	}
	if e, ok := errors.AsType[*FunctionError](a.err); ok && !alive {
		e.addExit(p)
	}
	f.finish(inv, pid, a)
	return true
}

// deliver waits until the process takes the invocation, and then for the response.
func (f *Function) deliver(p *process, inv *invocation, timer *time.Timer) (a answer, taken bool) {
	limit := f.options.Timeout
	for {
		select {
		case p.api.deliver <- inv:
			timer.Reset(limit)
			return p.awaitResponse(inv, limit, timer.C), true
		case <-p.exited:
			return answer{}, false
		case <-timer.C:
			if !p.api.busy() { // alive, but no longer requesting events
				p.kill()
				return answer{err: inv.timedOut(limit)}, true
			}
			timer.Reset(limit)
		}
	}
}

func (f *Function) finish(inv *invocation, pid int, a answer) {
	e := Event{Kind: Answered, RequestID: inv.id, PID: pid}
	if failure, ok := errors.AsType[*FunctionError](a.err); ok {
		e.Kind, e.Err = Failed, failure
	}
	if a.err == nil || e.Err != nil {
		f.observe(e)
	}
	inv.result <- a
}
