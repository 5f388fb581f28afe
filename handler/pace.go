package handler

import (
	"sync"
	"time"
)

const (
	// recentRuns is the number of last runs that the estimates are taken from.
	recentRuns = 20
	// enoughRuns is the number of runs from which on the shortest says how short a job is.
	enoughRuns = 5
	// slack is the time between two messages of the line, in runs. What is over one is for
	// messages that are not in it: new ones, and those of other processes.
	slack = 1.5
)

// pace is what a process knows of the time that its jobs take: how long the last runs
// took, and the line of messages that found no time. It is safe for concurrent use.
type pace struct {
	mu sync.Mutex
	// runs has the durations of the last runs, n of them. next is the index of the oldest
	// one.
	runs    [recentRuns]time.Duration
	n, next int
	// lineEnd is when the last message of the line comes back.
	lineEnd time.Time
}

// estimate is how long the last runs took; zero if there were none. The shortest is zero
// too if there were few.
type estimate struct{ shortest, mean, longest time.Duration }

// noteRun records the duration of a run.
func (p *pace) noteRun(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs[p.next] = took
	p.n, p.next = max(p.n, p.next+1), (p.next+1)%recentRuns
}

// estimate returns how long the last runs took.
func (p *pace) estimate() estimate {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := estimate{shortest: p.runs[0]}
	for _, took := range p.runs[:p.n] {
		e.shortest, e.longest = min(e.shortest, took), max(e.longest, took)
		e.mean += took
	}
	e.mean /= time.Duration(max(p.n, 1))
	if p.n < enoughRuns {
		e.shortest = 0
	}
	return e
}

// lineUp puts a message at the end of the line, and returns how long it waits there. It
// comes back after those before it have had time to run, so that it does not find them in
// its batch again.
func (p *pace) lineUp(place time.Duration, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lineEnd.Before(now) {
		p.lineEnd = now
	}
	p.lineEnd = p.lineEnd.Add(place)
	return p.lineEnd.Sub(now)
}
