package system

import (
	"cmp"
	"slices"
	"time"
)

// delivery is a message that a process has, and that is neither started nor concluded.
type delivery struct {
	process *process
	message *message
	since   time.Duration
}

// activity is what a process is at.
type activity struct {
	running int
	// changed is when a run began or ended, idle since when there is none.
	changed, idle time.Duration
	// crashed is when a run panicked, told when it was told to stop; 0 for never.
	crashed, told time.Duration
	// worked is when a run ended well last, failed when one did not.
	worked, failed time.Duration
	// claimed is when it asked for a claim last.
	claimed time.Duration
	// alone is the run that is alone in it; nil for none.
	alone *lone
	polls polls
}

const (
	// stallLimit is how long a message may wait while no run of its process begins or
	// ends: a slot is given up for lost after 30 s, a suspect holds others back as long,
	// and a run that is alone keeps them out for a minute.
	stallLimit = 110 * time.Second
	// idleLimit is how long it may wait while nothing runs in its process.
	idleLimit = 15 * time.Second
	// deferLimit is the longest that a message stays away, with its jitter.
	deferLimit = 20 * time.Minute
)

// handed takes in that a process got messages.
func (j *judge) handed(p *process, ids []string) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	if p.timeout() > 0 {
		j.endsAt(p, ids, j.w.now()+p.timeout())
	}
	if len(ids) > 0 {
		j.activity(p).polls.enough = j.w.now() // what it has not to run, it has to send or to delete
	}
	for _, id := range ids {
		if m := j.messages[id]; m != nil {
			j.waiting[p.name+" "+id] = &delivery{p, m, j.w.now()}
		}
	}
}

// takenUp takes in that a delivery is started, or has its outcome. The world is locked.
func (j *judge) takenUp(p *process, id string) { delete(j.waiting, p.name+" "+id) }

func (j *judge) activity(p *process) *activity {
	a := j.active[p]
	if a == nil {
		a = &activity{}
		j.active[p] = a
	}
	return a
}

func (j *judge) runs(p *process, change int) {
	a := j.activity(p)
	a.running += change
	a.changed = j.w.now()
	if a.running == 0 {
		a.idle = a.changed
	}
}

// limits are those of the history: calls that take long make all take longer.
func (j *judge) limits() (stall, idle time.Duration) {
	stall, idle = stallLimit, idleLimit
	if j.w.on[slowness] || j.w.on[spells] || j.w.rate > 0.1 {
		stall, idle = 2*stall, 4*idle
	}
	return stall, idle
}

// tick looks at what waits.
func (j *judge) tick() {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	stall, idle := j.limits()
	now := j.w.now()
	for key, d := range j.waiting {
		if d.process.isDead() || d.message.gone != "" {
			delete(j.waiting, key)
			continue
		}
		if !kindOf(d.message.body).healthy() || !j.isHead(d.message) || j.w.longOutage() > 0 || j.w.on[hangs] ||
			j.state(keyOf(d.message.name)).isRunning() { // it is a copy
			continue
		}
		if most := d.process.release.maxReceives; most > 0 && d.message.receives >= most {
			continue // it waits as long as it takes, and holds nobody back
		}
		a := j.activity(d.process)
		about := []string{keyOf(d.message.name)}
		if waits := now - max(d.since, a.changed); waits > stall {
			j.w.breaksLocked("no standing still", about, "%s waits in %s for %v, in which no run begins or ends",
				d.message.name, d.process.name, waits)
			delete(j.waiting, key)
		}
		if waits := now - max(d.since, a.idle); a.running == 0 && waits > idle {
			j.w.breaksLocked("no idle process", about, "%s waits in %s for %v, in which nothing runs",
				d.message.name, d.process.name, waits)
			delete(j.waiting, key)
		}
	}
	j.checkCapacity(now)
	j.checkLapse()
	j.checkPolls(now)
	j.checkLoneTime(now)
	if since := max(j.w.calm, j.lastDeath); now > since+j.w.patience() && !j.late {
		j.late = true
		for _, m := range j.order {
			if m.gone == "" && kindOf(m.body).healthy() {
				j.w.breaksLocked("progress", []string{keyOf(m.name)}, "%s is still in the queue %v after all was well",
					m.name, now-since)
			}
		}
	}
}

// spareLimit is how long a message may wait for its start while a worker has a free slot:
// somebody is alone in it for a minute, and the message is deferred, for up to 15 minutes
// and their jitter. With less than half of its receives used it is deferred for up to 72 s,
// and spareSoon is a few times that, and what a suspect and a lone run hold up.
const (
	spareLimit = 30 * time.Minute
	spareSoon  = 6 * time.Minute
)

func (j *judge) spare(m *message) time.Duration {
	s := j.state(keyOf(m.name))
	// A copy waits for the claim of another, and a suspect for an idle process.
	fresh := len(s.runs) == 0 && len(s.claims.open) == 0
	if 2*(m.receives+1) <= j.w.leastReceives() && fresh && !j.w.on[spells] && !j.w.on[slowness] {
		return spareSoon
	}
	return spareLimit
}

// leastReceives is the least that a release takes for the queue's maxReceiveCount.
func (c *config) leastReceives() int {
	least := c.maxReceives
	for _, r := range c.releases {
		least = min(least, cmp.Or(r.maxReceives, 30))
	}
	return least
}

// checkCapacity looks for healthy messages that are not started although there has been
// room all the time.
func (j *judge) checkCapacity(now time.Duration) {
	failing := j.w.on[refusals] || j.w.on[losses] || j.w.on[partials]
	if j.w.timeout() > 0 || j.w.longOutage() > 0 || j.w.rate > 0.1 && failing {
		return
	}
	if !j.hasRoom() {
		j.fullAt = now
	}
	for _, m := range j.order {
		if !j.isHead(m) || j.isBusy() && j.state(keyOf(m.name)).claims.suspicious(j.w.on[versions]) {
			m.blocked = now // a suspect waits for an idle process, up to three quarters of its receives
		}
		// What a dead process had comes back after its visibility timeout, and its claim lapses.
		since := max(j.fullAt, j.lastDeath+j.w.visibility+j.w.lease, m.blocked)
		if m.gone != "" || m.started || now-max(since, m.sent) <= j.spare(m) ||
			!kindOf(m.body).healthy() || j.state(keyOf(m.name)).isRunning() || j.state(keyOf(m.name)).settled() {
			continue
		}
		m.started = true
		j.w.breaksLocked("no standing still", []string{keyOf(m.name)},
			"%s is not started for %v, in which there was always room",
			m.name, now-max(since, m.sent))
	}
}

// isBusy reports whether a job runs anywhere.
func (j *judge) isBusy() bool {
	return slices.ContainsFunc(j.w.all, func(p *process) bool { return !p.isDead() && j.activity(p).running > 0 })
}

// hasRoom reports whether a worker that is to go on has a free slot.
func (j *judge) hasRoom() bool {
	for _, p := range j.w.all {
		select {
		case <-p.retired:
			continue
		default:
		}
		if !p.isDead() && p.slots > 0 && j.activity(p).running < p.slots {
			return true
		}
	}
	return false
}

// patience is how long healthy jobs may take after all adversity is over.
func (c *config) patience() time.Duration {
	all := time.Duration(0)
	for _, j := range c.jobs {
		if j.kind.healthy() {
			all += j.takes
		}
	}
	return 2*deferLimit + 4*c.visibility + all
}

// isRunning reports whether the job runs somewhere.
func (s *jobState) isRunning() bool {
	for _, r := range s.runs {
		if !r.ended && !r.process.isDead() {
			return true
		}
	}
	return false
}

// isHead reports whether all before a message in its group is settled.
func (j *judge) isHead(m *message) bool {
	if m.group == "" {
		return true
	}
	for _, before := range j.order {
		if before == m {
			return true
		}
		// What SQS has moved away may still run.
		here := before.gone == "" || j.state(keyOf(before.name)).isRunning()
		if here && before.group == m.group && !j.settled(before) {
			return false
		}
	}
	return true
}
