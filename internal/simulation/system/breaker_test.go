package system

import (
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// breakerLag is how long an open breaker may keep everything back in a process: it lets a probe
// through every 10 s, which has to be claimed before it runs.
const breakerLag = 15 * time.Second

// checkBreaker checks, when a breaker keeps back a message, that something has run in its
// process not long ago. The world is locked.
func (j *judge) checkBreaker(p *process, m *message, fields map[string]string) {
	if fields["outcome"] != handler.OutcomeDeferred.String() || fields["reason"] != handler.ReasonBreaker || !j.w.claims() {
		return
	}
	a := j.activity(p)
	if a.worked > a.failed && j.w.now()-a.worked > time.Second {
		j.w.breaksLocked("no standing still", []string{keyOf(m.name)},
			"%s is kept back by the breaker of %s, in which a job ended well %v ago, and none has failed since",
			m.name, p.name, j.w.now()-a.worked)
	}
	if idle := j.w.now() - a.changed; idle > breakerLag {
		j.w.breaksLocked("no standing still", []string{keyOf(m.name)},
			"%s is kept back by the breaker of %s, in which nothing has run for %v", m.name, p.name, idle)
	}
}

// ended takes in how a run ended. The world is locked.
func (j *judge) ended(p *process, err error) {
	if err == nil {
		j.activity(p).worked = j.w.now()
	} else {
		j.activity(p).failed = j.w.now()
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
