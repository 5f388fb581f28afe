package runtimeapi

import (
	"errors"
	"time"
)

func (f *Function) serve(inv *invocation) {
	defer func() { <-f.slots }()
	for p := f.takeIdle(); p != nil; p = f.takeIdle() {
		if f.run(p, inv) {
			return
		}
	}
	p, err := f.start(inv)
	if err != nil {
		f.finish(inv, 0, answer{err: err})
		return
	}
	if !f.run(p, inv) {
		e := inv.exited(p)
		e.addExit(p)
		f.finish(inv, p.cmd.Process.Pid, answer{err: e})
	}
}

// run gives the invocation to the process. False means that the process had
// ended before it could take it.
func (f *Function) run(p *process, inv *invocation) bool {
	inv.deadline = time.Now().Add(f.options.Timeout)
	timer := time.NewTimer(f.options.Timeout)
	defer timer.Stop()
	var a answer
	select {
	case p.api.deliver <- inv:
		a = p.await(inv, f.options.Timeout, timer.C)
	case <-timer.C: // alive, but no longer asking
		p.kill()
		a.err = inv.timedOut(f.options.Timeout)
	case <-p.exited:
		return false
	}
	pid := p.cmd.Process.Pid
	if a.err == nil {
		f.finish(inv, pid, a) // the caller need not wait for the process
	}
	alive := p.settle(timer.C)
	if e, ok := errors.AsType[*FunctionError](a.err); ok {
		if !alive {
			e.addExit(p)
		}
		f.finish(inv, pid, a)
	}
	if alive {
		f.putIdle(p)
	}
	return true
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
