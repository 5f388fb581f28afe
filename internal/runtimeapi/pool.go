package runtimeapi

import "slices"

// enter takes a slot in a process with a free one, or starts a new process;
// fresh reports which. The caller that gets a fresh process must call its
// startUp.
func (f *Function) enter(inv *invocation) (p *process, fresh bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, false, ErrClosed
	}
	for _, p := range f.processes {
		if !p.retired && p.taken < f.options.slotsPerProcess() {
			p.taken++
			return p, false, nil
		}
	}
	// Under the lock, so that Close sees every process.
	p, err = startProcess(f.options, hooks{f.observe, f.print, f.polling, f.forget})
	if err != nil {
		return nil, false, inv.notStarted(err)
	}
	p.taken = 1
	f.processes = append(f.processes, p)
	f.running.Go(func() { <-p.exited })
	return p, true, nil
}

func (f *Function) leave(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.taken--
}

// polling retires a process with several slots when it disconnects in one of them,
// as it does after a panic in another. A retired process gets no invocations
// until it requests an event again.
func (f *Function) polling(p *process, still bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.retired = !still && f.options.slotsPerProcess() > 1
}

func (f *Function) forget(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.processes = slices.DeleteFunc(f.processes, func(q *process) bool { return q == p })
}
