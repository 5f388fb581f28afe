package handler

import (
	"sync"
	"time"
)

const (
	// holdTime is how long a suspect keeps others from starting while it waits for
	// the process to be idle.
	holdTime = 30 * time.Second
	// holdPause is how long no suspect does that again after one has waited in vain.
	holdPause = 5 * time.Minute
	// longKeptOut is for how long lone runs may keep others out one after another.
	longKeptOut = 5 * time.Second
	// recentRuns is how many runs tell how long a run may take.
	recentRuns = 20
)

// invocation stands for one in the process. What it is sent says that it has to look
// again at what the process has refused.
type invocation chan struct{}

// process is what the invocations of one operating system process share. It is
// taken or free: a suspect has it alone, while no other delivery is at work. There
// is no line to wait in. Who is refused is told when something has changed.
type process struct {
	mu sync.Mutex
	// atWork counts the deliveries from the begin of their decoding to their end,
	// without those that wait; settling those of them whose run is over.
	atWork, settling int
	// lone is the invocation that has the process, holder the one that keeps others back.
	lone, holder invocation
	pausedUntil  time.Time
	// keptOutSince is since when lone runs keep others from starting, zero if they do
	// not, and othersUntil until when these have the process afterwards.
	keptOutSince, othersUntil time.Time
	batches                   map[invocation]bool
	// poison is what made the process end; nil if nothing has.
	poison *Result
	// runs are how long the last runs took, next is where the next one goes.
	runs [recentRuns]time.Duration
	next int
}

// join adds an invocation, and returns what has poisoned the process before.
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
	p.free(b, time.Now())
}

// busy reports whether invocations are under way.
func (p *process) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.batches) > 0
}

// begin counts a delivery that starts its decoding or its run, unless the process is
// taken. One that is to be quiet is refused while another is settling.
func (p *process) begin(quiet bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lone != nil || p.holder != nil || quiet && p.settling > 0 {
		if p.lone != nil && p.keptOutSince.IsZero() {
			p.keptOutSince = time.Now()
		}
		return false
	}
	p.keptOutSince = time.Time{}
	p.atWork++
	return true
}

// beginAnyway counts a delivery whatever the process is.
func (p *process) beginAnyway() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.atWork++
}

// settle notes that the run of a delivery at work is over.
func (p *process) settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settling++
}

// end counts off a delivery at work.
func (p *process) end(settled bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.atWork--
	if settled {
		p.settling--
	}
	if p.atWork == 0 || settled && p.settling == 0 {
		p.changed()
	}
}

// askResult is the answer to a suspect that asks for the process.
type askResult int

const (
	askWaits askResult = iota
	askGranted
	askDenied
)

// ask gives a batch the process if it is idle. A suspect that holds keeps others
// from starting until it has asked again, or retracts. It is denied while those have
// the process who were kept out for long: suspects that follow each other would make a
// queue stand still.
func (p *process) ask(b invocation, hold bool, now time.Time) askResult {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case hold && p.lone == nil && now.Before(p.othersUntil):
		return askDenied
	case p.lone == nil && p.atWork == 0 && (p.holder == nil || p.holder == b):
		p.lone, p.holder = b, nil
		return askGranted
	case hold && now.Before(p.pausedUntil) && p.lone == nil:
		return askDenied
	case hold && p.holder == nil:
		p.holder = b
	}
	return askWaits
}

// retract takes back what a batch has asked for. After a hold in vain no suspect
// holds the process for a while.
func (p *process) retract(b invocation, inVain bool, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if inVain && p.holder == b {
		p.pausedUntil = now.Add(holdPause)
	}
	p.free(b, now)
}

// free gives back what the batch has of the process. Those whom lone runs have kept out
// for long have it for as long as that took.
func (p *process) free(b invocation, now time.Time) {
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
	p.changed()
}

// keepsOut reports whether the lone run has kept another invocation from starting.
func (p *process) keepsOut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.keptOutSince.IsZero()
}

// changed tells all invocations to look again.
func (p *process) changed() {
	for b := range p.batches {
		select {
		case b <- struct{}{}:
		default:
		}
	}
}

// poisonBy notes what makes the process end. The first stands.
func (p *process) poisonBy(r *Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.poison == nil {
		p.poison = r
	}
	p.changed()
}

// poisoned is what makes the process end; nil if nothing does.
func (p *process) poisoned() *Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.poison
}

// reason is why nothing starts in a process that is to end; empty if it is not.
func (p *process) reason() string {
	if p.poisoned() != nil {
		return ReasonAfterCrash
	}
	return ""
}

// noteRun remembers how long a run took.
func (p *process) noteRun(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs[p.next] = took
	p.next = (p.next + 1) % recentRuns
}

// longest is how long the longest of the last runs took.
func (p *process) longest() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	most := time.Duration(0)
	for _, took := range p.runs {
		most = max(most, took)
	}
	return most
}
