package system

import "time"

const (
	// settledAfter is how long after the last adversity all calls are answered.
	settledAfter = 15 * time.Second
	// pollLag is how long an idle worker may take to ask with all of its slots: a receive that
	// asks for few waits for 20 s.
	pollLag = 30 * time.Second
)

// polls are the receives of a worker that are under way.
type polls struct {
	// asked is for how many jobs they ask.
	asked int
	// enough is when they last asked for as many as there are slots.
	enough time.Duration
}

// polled takes in that a receive begins or ends.
func (j *judge) polled(p *process, jobs int) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	a := j.activity(p)
	if jobs > 0 && a.polls.asked == 0 && a.polls.enough == 0 {
		a.polls.enough = j.w.now() // it has just begun
	}
	if a.polls.asked += jobs; a.polls.asked >= p.slots {
		a.polls.enough = j.w.now()
	}
}

// checkPolls checks that an idle worker asks for as many jobs as it has slots: else it has
// lost some. The world is locked.
func (j *judge) checkPolls(now time.Duration) {
	if !j.w.calmed || now < j.w.calm+settledAfter || j.w.on[hangs] {
		return
	}
	for p, a := range j.active {
		if p.slots == 0 || p.isDead() || a.told > 0 || a.polls.enough == 0 {
			continue
		}
		if a.running > 0 || a.polls.asked >= p.slots || j.hasMessages(p, nil) {
			a.polls.enough = now
			continue
		}
		// The pause after failures may be as long, if the last one was right before the calm.
		if now > max(a.polls.enough, a.idle, j.w.calm+settledAfter)+pollLag {
			a.polls.enough = now
			j.w.breaksLocked("no idle process", nil, "%s is idle for %v, and asks for %d jobs with %d slots",
				p.name, pollLag, a.polls.asked, p.slots)
		}
	}
}

// hasMessages reports whether a process has messages that it has not come to, others than one.
// The world is locked.
func (j *judge) hasMessages(p *process, other *message) bool {
	for _, d := range j.waiting {
		if d.process == p && d.message != other {
			return true
		}
	}
	return false
}
