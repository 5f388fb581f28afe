package runtimeapi

import "slices"

// enter takes a place in a process that has one, or in a new one; fresh tells
// which. Only the one who gets a fresh process starts it up.
func (f *Function) enter(inv *invocation) (p *process, fresh bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, false, ErrClosed
	}
	for _, p := range f.processes {
		if !p.retired && p.taken < f.options.places() {
			p.taken++
			return p, false, nil
		}
	}
	// Under the lock, so that Close misses none.
	p, err = startProcess(f.options, hooks{f.observe, f.print, f.asks, f.forget})
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

// asks keeps further invocations from a process of several places that hangs
// up in one, as it does after a panic in another, until it asks again.
func (f *Function) asks(p *process, still bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.retired = !still && f.options.places() > 1
}

func (f *Function) forget(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.processes = slices.DeleteFunc(f.processes, func(q *process) bool { return q == p })
}
