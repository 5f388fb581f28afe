package system

import (
	"time"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/deadline"
)

// fence is what the ledger has of a job's owner, by what was written: it does not go by the
// conditions under which the ledger writes.
type fence struct {
	owner string
	// lease is its end as written, by the clock of its writer.
	lease time.Time
	// held reports whether the claim is one to run the job, which is not done and not dead.
	held, dead, done bool
	// reopens is the owner of a claim on a dead job: it begins another life of it, or sends its
	// letter.
	reopens string
}

// precision is that of times in the ledger.
const precision = time.Millisecond

// claim takes in that a claim was written, and returns what is wrong with it.
func (f *fence) claim(c *call) string {
	before := *f
	f.owner, f.lease, f.held, f.dead = c.owner, c.lease, !before.dead, false
	if before.dead { // only the answer tells what was claimed
		f.reopens = c.owner
	}
	switch {
	case before.owner == c.owner:
		f.held, f.dead = before.held, before.dead
	case before.done:
		return "is claimed although it is done"
	case before.held && before.lease.Sub(c.now) >= precision:
		return "is claimed while another claim holds for " + before.lease.Sub(c.now).String()
	}
	return ""
}

// write takes in another write, and returns what is wrong with it.
func (f *fence) write(c *call) string {
	if f.owner != c.owner {
		return "is written to by the owner of a claim that is lost"
	}
	if c.operation == "renew" && f.lease.Sub(c.lease) >= precision {
		return "is renewed to an earlier time"
	}
	if !c.lease.IsZero() {
		f.lease = c.lease
	}
	switch c.operation {
	case "transact", idem.SettleComplete.String():
		f.held, f.done = false, true
	case idem.SettleVerdict.String():
		f.held, f.dead = false, true
	}
	return ""
}

// answered takes in the answer to a claim, and reports whether another life of the job begins
// with it.
func (f *fence) answered(owner string, kind idem.AnswerKind) bool {
	if f.owner != owner {
		return false
	}
	reopened := f.reopens == owner
	f.held, f.dead, f.reopens = kind == idem.AnswerAcquired, kind == idem.AnswerSend, ""
	return f.held && reopened
}

// checkFence checks a write about a job: a claim that holds keeps out all others. The world
// is locked.
func (j *judge) checkFence(p *process, c *call) {
	f := &j.state(c.subjects[0]).fence
	var what string
	if c.operation == "claim" {
		what = f.claim(c)
		j.checkMargin(p, c)
	} else {
		what = f.write(c)
	}
	if what != "" {
		j.w.breaksLocked("one run at a time", c.subjects, "%s of %s: %s %s", c.operation, p.name, c.subjects[0], what)
	}
}

// checkMargin checks that a lease outlasts its invocation, or where there is no deadline the
// time that it is for, by the margin of the clocks. The world is locked.
func (j *judge) checkMargin(p *process, c *call) {
	until := c.now.Add(p.lease)
	if p.timeout() > 0 {
		last, ok := j.term(p, c.messageID, c.now.Sub(j.w.begin)-p.skew)
		if !ok {
			return // it arrives late
		}
		until = j.w.begin.Add(last.end + p.skew)
	}
	if c.lease.Sub(until) < deadline.ClockMargin-precision {
		j.w.breaksLocked("one run at a time", c.subjects, "the lease of %s ends %v after its time, want %v",
			c.subjects[0], c.lease.Sub(until), deadline.ClockMargin)
	}
}

// term is the time that a process has for a message.
type term struct{ since, end time.Duration }

// endsAt notes when the time of a process for messages ends. The world is locked.
func (j *judge) endsAt(p *process, ids []string, end time.Duration) {
	for _, id := range ids {
		key := p.name + " " + id
		j.ends[key] = append(j.ends[key], term{j.w.now(), end})
	}
}

// term returns the time that a process has for a message at some time. Of several batches with
// the message that which ends first counts. The world is locked.
func (j *judge) term(p *process, id string, at time.Duration) (first term, ok bool) {
	for _, t := range j.ends[p.name+" "+id] {
		if t.since <= at && at < t.end && (!ok || t.end < first.end) {
			first, ok = t, true
		}
	}
	return first, ok
}

// checkStart checks that a run begins under its lease, and not in its last part. The world
// is locked.
func (j *judge) checkStart(r *jobRun) {
	until, ok := j.state(r.job.name).leases[r.process.name+r.messageID]
	if left := until - j.w.now(); ok && !j.w.on[failOpen] && left < deadline.ClockMargin-precision {
		j.w.breaksLocked("one run at a time", []string{r.job.name}, "run %d of %s begins with %v of its lease left",
			r.number, r.name, left)
	}
}

// checkLapse checks that the claims of runs that go on are renewed. The world is locked.
func (j *judge) checkLapse() {
	if j.w.timeout() > 0 || !j.w.reliable() {
		return
	}
	for name, s := range j.jobs {
		for _, r := range s.runs {
			until, ok := s.leases[r.process.name+r.messageID]
			if !ok || r.ended || r.process.isDead() || r.ctx.Err() != nil || j.w.now() < until {
				continue
			}
			r.ended = true
			j.w.breaksLocked("one run at a time", []string{name}, "run %d of %s goes on, and its lease has ended",
				r.number, r.name)
		}
	}
}

// logLost is what the ledger logs of a claim that it could not renew.
const logLost = "claim lost while the job runs"

// checkLost checks that no claim is lost while nothing fails. The world is locked.
func (j *judge) checkLost(line, name string) {
	if line == logLost && j.w.reliable() && !j.w.on[drifts] {
		j.w.breaksLocked("one run at a time", []string{keyOf(name)}, "the claim on %s is lost, and nothing has failed", name)
	}
}

// began notes when a verdict on a job was first about to be written.
func (j *judge) began(c *call) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	if _, known := j.verdicts[c.owner]; !known {
		j.verdicts[c.owner] = j.w.now()
	}
}

// checkEpoch checks that another life of a job begins with a replay, or with a message that
// was sent after its death. The world is locked.
func (j *judge) checkEpoch(r idem.Request, a idem.Answer, key string) {
	s, sent := j.state(key), j.messages[r.MessageID]
	epoch := a.Job.Epoch
	if !s.fence.answered(r.Owner, a.Kind) || epoch == 0 || r.Epoch > 0 || sent == nil {
		return
	}
	margin := deadline.ClockMargin + time.Second
	if j.w.on[skews] {
		margin += 2 * time.Second
	}
	if j.w.on[drifts] {
		margin += 10 * time.Second
	}
	if died := s.at(epoch - 1); died.dead && sent.sent < died.decided-margin {
		j.w.breaksLocked("no run after the end", []string{key},
			"%s begins epoch %d, and was sent %v before the death of the one before", sent.name, epoch, died.decided-sent.sent)
	}
}
