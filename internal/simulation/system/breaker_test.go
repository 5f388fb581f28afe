package system

import (
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// breakerLag is how long an open breaker may keep everything back in a process: it lets a probe
// through every 10 s, which has to be claimed before it runs.
const breakerLag = 15 * time.Second

// checkBreaker checks, when a breaker keeps back a message, that something has run in its
// process not long ago, and that what has ended last there has failed. The world is locked.
func (j *judge) checkBreaker(p *process, m *message, fields map[string]string) {
	a, now, about := j.activity(p), j.w.now(), []string{keyOf(m.name)}
	if fields["reason"] == fault.ReasonStore {
		a.failed = now
	}
	keptBack := fields["outcome"] == handler.OutcomeDeferred.String() && fields["reason"] == handler.ReasonBreaker
	if !keptBack || j.w.on[hangs] {
		return
	}
	if worked := now - a.worked; a.worked > a.failed && worked > time.Second {
		j.w.breaksLocked("no standing still", about,
			"%s is kept back by the breaker of %s, in which a job ended well %v ago, and none has failed since",
			m.name, p.name, worked)
	}
	// A probe that has to be alone waits after its claim, and a claim may be refused. Another
	// message of the batch may be the probe, and is claimed next.
	if idle := now - max(a.changed, a.claimed); idle > breakerLag && j.w.claims() && !j.hasMessages(p, m) {
		j.w.breaksLocked("no standing still", about, "%s is kept back by the breaker of %s, in which nothing has run for %v",
			m.name, p.name, idle)
	}
}

// ended takes in how a run ended. The world is locked.
func (j *judge) ended(r *jobRun, err error) {
	switch a := j.activity(r.process); {
	case err != nil:
		a.failed = j.w.now()
	case r.ctx.Err() == nil: // else it may have been left behind
		a.worked = j.w.now()
	}
}

// claims reports whether the calls of the ledger do what they are asked to.
func (c *config) claims() bool {
	for _, f := range []feature{refusals, spells, losses, slowness, hangs} {
		if c.on[f] {
			return false
		}
	}
	for _, o := range c.outages {
		if o.service == "ledger" {
			return false
		}
	}
	return true
}
