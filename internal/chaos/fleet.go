//go:build unix

package main

import (
	"cmp"
	"slices"
	"sync"
	"syscall"
)

// The hosts of jobs.
const (
	inFunction = "function"
	inWorker   = "worker"
)

// process is one that runs jobs. Each leads a process group of its own.
type process struct {
	pid   int
	host  string
	queue *queue
}

// fleet knows the processes. It is safe for concurrent use.
type fleet struct {
	mu        sync.Mutex
	processes map[int]process
	stopped   map[int]bool // those that are frozen
	frozen    map[int]bool // those that ever were
	told      map[int]bool // those that were told to end
	started   map[string]int
}

func newFleet() *fleet {
	return &fleet{
		processes: map[int]process{}, started: map[string]int{},
		stopped: map[int]bool{}, frozen: map[int]bool{}, told: map[int]bool{},
	}
}

func (f *fleet) add(p process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.processes[p.pid] = p
	f.started[p.host]++
	delete(f.stopped, p.pid)
	delete(f.told, p.pid)
}

// drop forgets a process that has ended. Those of functions need not be dropped.
func (f *fleet) drop(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.processes, pid)
	delete(f.stopped, pid)
}

// alive are the processes of a host that run, those that are frozen excepted, in the
// order in which they are numbered.
func (f *fleet) alive(host string) []process {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []process
	for pid, p := range f.processes {
		if group, err := syscall.Getpgid(pid); err != nil || group != pid {
			delete(f.processes, pid)
			delete(f.stopped, pid)
			continue
		}
		if !f.stopped[pid] && p.host == host {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b process) int { return cmp.Compare(a.pid, b.pid) })
	return all
}

// signal sends a signal to a process of the fleet, and reports whether it is there.
func (f *fleet) signal(pid int, s syscall.Signal) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.processes[pid]; !known || syscall.Kill(pid, s) != nil {
		return false
	}
	switch s {
	case syscall.SIGSTOP:
		f.stopped[pid], f.frozen[pid] = true, true
	case syscall.SIGCONT:
		delete(f.stopped, pid)
	case syscall.SIGTERM:
		f.told[pid] = true
	}
	return true
}

// end tells a process to end unless it was told before, since a second SIGTERM ends it at
// once. It reports whether it told it.
func (f *fleet) end(pid int) bool {
	f.mu.Lock()
	told := f.told[pid]
	f.mu.Unlock()
	return !told && f.signal(pid, syscall.SIGTERM)
}

// thaw lets all go on that are frozen.
func (f *fleet) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for pid := range f.stopped {
		_ = syscall.Kill(pid, syscall.SIGCONT) // it may have been killed since
		delete(f.stopped, pid)
	}
}

// wasFrozen tells whether a process was frozen once.
func (f *fleet) wasFrozen(pid int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.frozen[pid]
}

// starts counts the processes by their host.
func (f *fleet) starts() (functions, workers int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.started[inFunction], f.started[inWorker]
}
