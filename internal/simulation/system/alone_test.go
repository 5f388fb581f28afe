package system

import (
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

// lone is a run that has its process for itself, from the count of its crash on until that
// is taken back or the claim is settled.
type lone struct {
	owner, job string
	since      time.Duration
}

// loneLimit is how long a run without a deadline may be alone: a minute, and what it takes to
// write that it is not any more.
const loneLimit = 75 * time.Second

// takesBack reports whether a count of crashes takes back the one that a lone run has written
// before.
func (j *judge) takesBack(owner string, crashes int) bool {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	before, counted := j.counted[owner]
	if !counted {
		j.counted[owner] = crashes
	}
	return counted && crashes < before
}

// lonely takes in a write about a claim. The world is locked.
func (j *judge) lonely(p *process, c *call) {
	a := j.activity(p)
	switch c.operation {
	case idem.SettleAlone.String():
		a.alone = &lone{c.owner, c.subjects[0], j.w.now()}
	case "claim", "renew", idem.SettleConfirm.String():
	case "not " + idem.SettleAlone.String():
		j.w.stats["long runs alone"]++
		fallthrough
	default:
		if a.alone != nil && a.alone.owner == c.owner {
			a.alone = nil
		}
	}
}

// checkLone checks that no run begins beside one that is alone, and that this one begins
// beside no other. The world is locked.
func (j *judge) checkLone(r *jobRun) {
	a, about := j.activity(r.process), []string{r.job.name}
	if a.alone == nil {
		return
	}
	own := j.state(r.job.name).owners[r.process.name+r.messageID] == a.alone.owner
	for _, s := range j.jobs {
		for _, other := range s.runs {
			if other == r || other.process != r.process || other.ended || other.ctx.Err() != nil {
				continue
			}
			switch owner := j.state(other.job.name).owners[r.process.name+other.messageID]; {
			case own:
				j.w.breaksLocked("aloneness", about, "%s, which is to be alone, begins in %s beside %s",
					r.name, r.process.name, other.name)
			case owner == a.alone.owner:
				j.w.breaksLocked("aloneness", about, "%s begins in %s beside %s, which is alone there",
					r.name, r.process.name, other.name)
			}
		}
	}
}

// checkLoneTime checks that no run without a deadline keeps its process for itself for long.
// The world is locked.
func (j *judge) checkLoneTime(now time.Duration) {
	if j.w.timeout() > 0 || !j.w.claims() {
		return
	}
	for p, a := range j.active {
		if a.alone == nil || p.isDead() || now-a.alone.since <= loneLimit {
			continue
		}
		j.w.breaksLocked("no standing still", []string{a.alone.job}, "%s is alone in %s for %v",
			a.alone.job, p.name, now-a.alone.since)
		a.alone = nil
	}
}
