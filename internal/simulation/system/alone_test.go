package system

import "github.com/sqsafe/sqsafe/idem"

// lone is a run that has its process for itself, from the count of its crash on until that
// is taken back or the claim is settled.
type lone struct {
	owner, job string
}

// lonely takes in a write about a claim. The world is locked.
func (j *judge) lonely(p *process, c *call) {
	a := j.activity(p)
	switch c.operation {
	case idem.SettleAlone.String():
		a.alone = &lone{c.owner, c.subjects[0]}
	case "claim", "renew", idem.SettleConfirm.String():
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
