package handler

import (
	"sync"
	"time"
)

const (
	// holdTime is how long a suspect may keep others from starting while it waits for the
	// process to become idle.
	holdTime = 30 * time.Second
	// holdPause is how long no suspect may do that again after one has waited in vain.
	holdPause = 5 * time.Minute
	// longKeptOut is how long lone runs may keep others from starting, one after another.
	longKeptOut = 5 * time.Second
)

// invocation identifies one invocation in the process. A value on the channel means: try
// again what the process has refused.
type invocation chan struct{}

// process is the state that the invocations of one operating system process share. It is
// taken or free. It is taken while a suspect runs alone; no other delivery is active
// then. Refused deliveries do not queue up here: their invocation is notified after the next
// change.
type process struct {
	mu sync.Mutex
	// active counts the deliveries from the start of decoding to their end, except those
	// that wait. settling counts the active ones with a finished run.
	active, settling int
	// lone is the invocation with the lone run. holder is the invocation with a suspect
	// that keeps others from starting while it waits.
	lone, holder invocation
	pausedUntil  time.Time
	// keptOutSince is when lone runs began to keep others from starting; zero if they do
	// not. Until othersUntil no suspect may hold the process.
	keptOutSince, othersUntil time.Time
	batches                   map[invocation]bool
	// refused reports whether an invocation waits for a change, since it was refused something.
	refused bool
	// poison is the result of the crash after which the process ends; nil if there was
	// none.
	poison *Result
	pace   pace
}

// join adds an invocation. It returns the earlier crash of the process, or nil.
func (p *process) join(b invocation) *Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.batches == nil {
		p.batches = map[invocation]bool{}
	}
	p.batches[b] = true
	return p.poison
}

func (p *process) leave(b invocation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.batches, b)
	p.release(b, time.Now())
}

// busy reports whether an invocation is running.
func (p *process) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.batches) > 0
}

// invocations returns how many invocations are running, at least 1.
func (p *process) invocations() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(len(p.batches), 1)
}

// begin counts a delivery that starts decoding or running. It returns false if the
// process is taken. A quiet delivery is also refused while another one is settling.
func (p *process) begin(quiet bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lone != nil || p.holder != nil || quiet && p.settling > 0 {
		if p.lone != nil && p.keptOutSince.IsZero() {
			p.keptOutSince = time.Now()
		}
		p.refused = true
		return false
	}
	p.keptOutSince = time.Time{}
	p.active++
	return true
}

// forceBegin counts a delivery even if the process is taken.
func (p *process) forceBegin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active++
}

// settle records that an active delivery's run has ended.
func (p *process) settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settling++
}

// end stops counting a delivery as active.
func (p *process) end(settled bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active--
	if settled {
		p.settling--
	}
	if p.active == 0 || settled && p.settling == 0 {
		p.notifyAll()
	}
}

// askResult is the answer to a suspect that asks for the process.
type askResult int

const (
	askWaits askResult = iota
	askGranted
	askDenied
)

// ask gives an invocation the process if it is idle. With hold, nobody else may start
// until the invocation asks again or retracts. The request is denied after lone runs have
// kept others out for long: a series of suspects would stop the queue.
func (p *process) ask(b invocation, hold bool, now time.Time) askResult {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case hold && p.lone == nil && now.Before(p.othersUntil):
		return askDenied
	case p.lone == nil && p.active == 0 && (p.holder == nil || p.holder == b):
		p.lone, p.holder = b, nil
		return askGranted
	case hold && now.Before(p.pausedUntil) && p.lone == nil:
		return askDenied
	case hold && p.holder == nil:
		p.holder = b
	}
	p.refused = true
	return askWaits
}

// retract withdraws the request of an invocation, or releases the process. After a hold
// in vain no suspect may hold the process for holdPause.
func (p *process) retract(b invocation, inVain bool, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if inVain && p.holder == b {
		p.pausedUntil = now.Add(holdPause)
	}
	p.release(b, now)
}

// release releases what the invocation has of the process. If lone runs have kept others out
// for long, the others go first for as long.
func (p *process) release(b invocation, now time.Time) {
	if p.lone != b && p.holder != b {
		return
	}
	if p.lone == b {
		p.lone = nil
		if waited := now.Sub(p.keptOutSince); !p.keptOutSince.IsZero() && waited >= longKeptOut {
			p.othersUntil = now.Add(waited)
		}
	}
	if p.holder == b {
		p.holder = nil
	}
	p.notifyAll()
}

// keepsOut reports whether the lone run has kept another invocation from starting.
func (p *process) keepsOut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.keptOutSince.IsZero()
}

// notifyAll notifies all invocations to try again, if one was refused.
func (p *process) notifyAll() {
	if !p.refused {
		return
	}
	p.refused = false
	for b := range p.batches {
		select {
		case b <- struct{}{}:
		default:
		}
	}
}

// poisonBy records the crash after which the process ends. Only the first is kept.
func (p *process) poisonBy(r *Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.poison == nil {
		p.poison = r
	}
	p.refused = true // all of them
	p.notifyAll()
}

// poisoned returns the crash after which the process ends; nil if there was none.
func (p *process) poisoned() *Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.poison
}

// reason returns why nothing starts in a process after a crash; empty if there was none.
func (p *process) reason() string {
	if p.poisoned() != nil {
		return ReasonAfterCrash
	}
	return ""
}
