package system

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// comeback is what an outcome has said of the next receive of its message.
type comeback struct {
	process   *process
	at, delay time.Duration
}

// checkDelay checks that the delay of an outcome is one that the backoff may draw. The
// world is locked.
func (j *judge) checkDelay(p *process, m *message, fields map[string]string) {
	seconds, _ := strconv.ParseFloat(fields["delaySeconds"], 64)
	delay := time.Duration(seconds * float64(time.Second))
	m.back = nil
	if delay == 0 || m.gone != "" {
		return
	}
	about, name, reason := []string{keyOf(m.name)}, m.name, fields["reason"]
	attempt, _ := strconv.Atoi(fields["attempt"])
	receives, _ := strconv.Atoi(fields["receiveCount"]) // they count where a failure costs nothing
	// With a receipt handle that has lapsed a message of a FIFO queue cannot be hidden.
	if lapsed := j.w.on[ordered] && (m.due <= j.w.now() || receives < m.receives); !lapsed || j.w.reliable() {
		m.back = &comeback{p, j.w.now(), delay}
	}
	switch outcome := fields["outcome"]; {
	case outcome == handler.OutcomeRetry.String() && attempt > 0 && reason != fault.ReasonStore:
		top := func() float64 { return 1 }
		if most := p.release.profile().Delay(max(attempt, receives), top) + time.Second; delay > most {
			j.w.breaksLocked("delay", about, "%s is retried after %v, want at most %v", name, delay, most)
		}
		// The ledger knows how many attempts are used; a failure that costs none goes by receives.
		used := min(j.state(keyOf(name)).budget.attempts, receives)
		none := func() float64 { return 0 }
		least := max(p.release.profile().Delay(used, none)-time.Second, p.release.backoff)
		if delay < min(least, j.w.visibility) {
			j.w.breaksLocked("delay", about, "%s is retried after %v, want %v at least", name, delay, least)
		}
	case outcome == handler.OutcomeBusy.String():
		until, ok := j.busy[p.name+" "+m.id]
		if left := until - j.w.now(); ok && delay < left-time.Second {
			j.w.breaksLocked("delay", about, "%s comes back after %v, and the claim that keeps it out holds for %v",
				name, delay, left)
		}
		delete(j.busy, p.name+" "+m.id)
	case waits[reason] && 2*receives > cmp.Or(p.release.maxReceives, 30) && delay < longWait:
		j.w.breaksLocked("delay", about, "%s has used more than half of its receives, and is deferred for %v", name, delay)
	case outcome == handler.OutcomeDeferred.String() && (delay < time.Second || delay > deferLimit):
		j.w.breaksLocked("delay", about, "%s is deferred for %v, want from 1 s to %v", name, delay, deferLimit)
	}
}

// waits are reasons for which a message does not run, and longWait is how long it stays away
// at least when it has used half of its receives.
var waits = map[string]bool{
	handler.ReasonNoTime: true, handler.ReasonBreaker: true, handler.ReasonNoSlot: true, handler.ReasonNotAlone: true,
}

const longWait = 5 * time.Minute

// checkComeback checks, when a message is received again, that it was away for as long as
// its outcome has said. The world is locked.
func (j *judge) checkComeback(m *message) {
	back := m.back
	m.back = nil
	if back == nil || back.process.isDead() || !j.w.reliable() && !j.settledSince(back.at) {
		return
	}
	about := []string{keyOf(m.name)}
	if away := m.due - back.at; away < back.delay-2*time.Second {
		j.w.breaksLocked("delay", about, "%s is visible after %v, its outcome says %v", m.name, away, back.delay)
	} else if away > back.delay+j.w.timeout()+20*time.Second {
		j.w.breaksLocked("delay", about, "%s is visible only after %v, its outcome says %v", m.name, away, back.delay)
	}
}

// settledSince reports whether all calls do what they are asked to since a time: all adversity
// was over before. The world is locked.
func (j *judge) settledSince(at time.Duration) bool {
	return j.w.calmed && at > j.w.calm+settledAfter && !j.w.on[hasty] && !j.w.on[hangs]
}

// checkHidden checks, when a message is received, that no run of it goes on whose process
// should have hidden it. The world is locked.
func (j *judge) checkHidden(m *message) {
	for _, r := range j.state(keyOf(m.name)).runs {
		// Of the receive before this one, since only its receipt handle is valid. That of a FIFO
		// queue is never valid again after its time, however well things go then.
		since := j.w.now() - j.w.visibility
		if j.w.on[ordered] {
			since = min(since, m.due-j.w.visibility) // when it was hidden last
		}
		if !j.w.reliable() && (!j.settledSince(since) || r.receive != m.receives) {
			continue
		}
		if r.messageID == m.id && !r.ended && !r.process.isDead() && r.ctx.Err() == nil {
			j.w.breaksLocked("heartbeat", []string{keyOf(m.name)}, "%s is handed out while its run %d goes on", m.name, r.number)
		}
	}
}

// checkBlame checks that a crash is not counted for a job that ends well: it was left
// behind only because it was started late. The world is locked.
func (j *judge) checkBlame(p *process, c *call) {
	job := j.w.job(c.subjects[0])
	excused := j.w.on[hangs] || j.w.on[slowness] || j.w.on[unknown] || j.w.longOutage() > 0
	if !job.kind.healthy() || excused || j.edited[job.name] {
		return
	}
	j.w.breaksLocked("blame", c.subjects, "%s says that %s (%s) has crashed", p.name, job.name, job.kind)
}

// checkBudget checks that a job is dead for its failures only once its budget is used up.
// The world is locked.
func (j *judge) checkBudget(l *letter) {
	r := l.record
	if r == nil || r.Reason != handler.ReasonExhausted || j.w.on[failOpen] {
		return
	}
	least, most := j.w.releases[0].attempts, j.w.releases[0].attempts
	for _, other := range j.w.releases {
		least, most = min(least, other.attempts), max(most, other.attempts)
	}
	if r.Attempts < least || r.Attempts > most {
		j.w.breaksLocked("budget", []string{keyOf(l.name)}, "%s is dead after %d attempts, want %d to %d",
			l.name, r.Attempts, least, most)
	}
}

// checkAttempts checks that a failed run leaves no smaller budget used than the runs before it,
// and that all of them are in the history. The world is locked.
func (j *judge) checkAttempts(p *process, c *call) {
	s := j.state(c.subjects[0])
	if c.operation != idem.SettleRelease.String() || j.w.on[rekeyed] {
		return
	}
	if c.epoch == s.budget.epoch && c.attempts < s.budget.attempts || c.history < max(c.attempts, s.budget.history) {
		j.w.breaksLocked("budget", c.subjects, "%s has %d attempts and a history of %d runs, and had %d and %d before",
			c.subjects[0], c.attempts, c.history, s.budget.attempts, s.budget.history)
	}
	used := s.budget.attempts
	if c.epoch != s.budget.epoch {
		used = 0
	}
	if n := len(s.runs); n > 0 && c.attempts > used {
		if r := s.runs[n-1]; r.free && r.process == p && r.messageID == c.messageID {
			j.w.breaksLocked("budget", c.subjects, "run %d of %s was cut off, and costs an attempt", r.number, r.name)
		}
	}
	s.budget = budget{c.epoch, c.attempts, c.history}
}

// isFree reports whether a run that ended with err costs nothing. The world is locked.
func (j *judge) isFree(r *jobRun, err error) bool {
	switch r.ctx.Err() {
	case context.Canceled:
		return errors.Is(err, context.Canceled)
	case context.DeadlineExceeded:
		const margin = 100 * time.Millisecond
		return errors.Is(err, context.DeadlineExceeded) && j.w.timeout() > 0 && j.w.now()-r.start+margin < j.w.jobTime()/2
	default:
		return false
	}
}

// budget is what failed runs have used in an epoch.
type budget struct{ epoch, attempts, history int }

// checkLease checks that a run does not begin beside one that goes on although its context
// has ended: it was left behind, and its lease lasts as long as its process may. The world
// is locked.
func (j *judge) checkLease(r, other *jobRun) {
	until, ok := j.state(r.job.name).leases[other.process.name+other.messageID]
	if !ok || j.w.on[drifts] || j.w.on[failOpen] || other.process == r.process && other.messageID == r.messageID {
		return
	}
	if margin := 2 * time.Second; j.w.now() < until-margin {
		j.w.breaksLocked("one run at a time", []string{r.job.name},
			"run %d of %s begins while run %d, which was left behind, has its lease for %v", r.number, r.name, other.number,
			until-j.w.now())
	}
}

// checkRelease checks that a claim is not given up while its run goes on: what is left
// behind keeps its lease. The world is locked.
func (j *judge) checkRelease(p *process, c *call) {
	s := j.state(c.subjects[0])
	until, ok := s.leases[p.name+c.messageID]
	if !ok || c.lease.Sub(j.w.begin)-p.skew >= until-time.Millisecond {
		return
	}
	for _, r := range s.runs {
		if r.process == p && r.messageID == c.messageID && !r.ended && !p.isDead() {
			j.w.breaksLocked("one run at a time", c.subjects, "%s is released by its %s while run %d goes on",
				c.subjects[0], c.operation, r.number)
		}
	}
}

// checkAlone checks that a run whose job has crashed before is alone. The world is locked.
func (j *judge) checkAlone(p *process, m *handler.Message, key string) {
	s := j.state(key)
	if most := cmp.Or(p.release.maxReceives, 30); 4*m.ReceiveCount() >= 3*most {
		return // it may not find an idle process any more, and SQS would move it without a record
	}
	if s.claims.besideOthers(s.owners[p.name+m.MessageId]) && !j.w.on[drifts] && !j.w.on[failOpen] {
		j.w.breaksLocked("aloneness", []string{key}, "%s runs beside others although a crash of it is known", key)
	}
}

// leased takes in how long a claim lasts, by the clock of its process, and whose it is. The
// world is locked.
func (j *judge) leased(p *process, c *call) {
	if c.lease.IsZero() {
		return
	}
	s := j.state(c.subjects[0])
	if s.leases == nil {
		s.leases, s.owners = map[string]time.Duration{}, map[string]string{}
	}
	s.owners[p.name+c.messageID] = c.owner
	s.leases[p.name+c.messageID] = c.lease.Sub(j.w.begin) - p.skew
}
