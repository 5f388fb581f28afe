package runtimeapi

import "slices"

func (f *Function) start(inv *invocation) (*process, error) {
	p, err := f.launch(inv)
	if err != nil {
		return nil, err
	}
	if failure := p.awaitInit(inv, f.options.InitTimeout); failure != nil {
		return nil, failure
	}
	return p, nil
}

// launch holds the lock while the child starts, so that Close misses none.
func (f *Function) launch(inv *invocation) (*process, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, ErrClosed
	}
	p, err := startProcess(f.options, hooks{f.observe, f.print, f.forget})
	if err != nil {
		return nil, inv.notStarted(err)
	}
	f.processes[p] = struct{}{}
	f.running.Go(func() { <-p.exited })
	return p, nil
}

func (f *Function) takeIdle() *process {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := len(f.idle) - 1
	if last < 0 {
		return nil
	}
	p := f.idle[last]
	f.idle = f.idle[:last]
	return p
}

func (f *Function) putIdle(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idle = append(f.idle, p)
}

func (f *Function) forget(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.processes, p)
	f.idle = slices.DeleteFunc(f.idle, func(q *process) bool { return q == p })
}
