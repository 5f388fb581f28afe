package system

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// feature is a kind of adversity, or of use, that a history may have.
type feature string

const (
	kills      feature = "kills"      // processes are killed between and within calls
	refusals   feature = "refusals"   // calls fail before their effect
	spells     feature = "spells"     // a call that fails keeps failing for a while
	losses     feature = "losses"     // answers are lost after the effect
	partials   feature = "partials"   // entries of batch calls fail
	slowness   feature = "slowness"   // some calls take seconds
	shuffling  feature = "shuffling"  // messages come in another order
	duplicates feature = "duplicates" // messages are handed out twice
	deploys    feature = "deploys"    // processes are replaced
	hangs      feature = "hangs"      // something of the user's never returns
	outages    feature = "outages"    // a service is down for a while
	copies     feature = "copies"     // producers send a job several times
	contests   feature = "contests"   // producers send two payloads under one key
	replays    feature = "replays"    // operators replay dead letters
	lowering   feature = "lowering"   // maxReceiveCount is lowered
	purges     feature = "purges"     // the queue is purged
	hasty      feature = "hasty"      // the visibility timeout is short
	ordered    feature = "ordered"    // the queue is a FIFO queue
	skews      feature = "skews"      // clocks differ by up to the margin
	drifts     feature = "drifts"     // clocks differ by up to ten seconds, five times the margin
	zombies    feature = "zombies"    // invocations are said to have timed out and go on
	failOpen   feature = "failOpen"   // Options.FailOpen
	unknown    feature = "unknown"    // Options.DeadLetterUnknown
	dropping   feature = "dropping"   // Options.Drop
	awaiting   feature = "awaiting"   // Options.AwaitSettle
	mildly     feature = "mildly"     // Options.PanicAsPermanent
	stragglers feature = "stragglers" // calls that were given up, or whose process died, arrive later
	versions   feature = "versions"   // deploys bring another release, or bring it back
	rekeyed    feature = "rekeyed"    // that has another key function
)

// features are all of them, each with the share of histories that have it.
var features = []struct {
	name  feature
	share float64
}{
	{kills, 0.5}, {refusals, 0.4}, {spells, 0.2}, {losses, 0.4}, {partials, 0.3}, {slowness, 0.25}, {shuffling, 0.5},
	{duplicates, 0.3},
	{deploys, 0.3}, {hangs, 0.2}, {outages, 0.25}, {copies, 0.3}, {contests, 0.1}, {replays, 0.25}, {lowering, 0.05},
	{purges, 0.05}, {hasty, 0.1}, {ordered, 0.3}, {skews, 0.2}, {drifts, 0.05}, {zombies, 0.1}, {failOpen, 0.05},
	{unknown, 0.05}, {dropping, 0.05}, {awaiting, 0.1}, {mildly, 0.05}, {stragglers, 0.3},
	{versions, 0.25}, {rekeyed, 0.02},
}

// profile is what a history is mostly about. Others are about everything.
type profile string

const (
	anything profile = "anything"
	poisoned profile = "poisoned" // bad jobs among healthy ones, and no other adversity
	crowded  profile = "crowded"  // many jobs that take long for the time there is
	lasting  profile = "lasting"  // jobs of minutes and hours in workers, beside others
	killed   profile = "killed"   // processes live for a few calls
	refusing profile = "refusing" // many jobs that fail for good, and entries that SQS does not take
)

// shares are those of a profile; what is not there, it does not have.
var shares = map[profile]map[feature]float64{
	poisoned: {shuffling: 0.7, ordered: 0.3, copies: 0.2, replays: 0.2, awaiting: 0.1, versions: 0.1},
	refusing: {
		partials: 0.6, spells: 0.6, losses: 0.2, shuffling: 0.5, ordered: 0.3, copies: 0.2, replays: 0.5, awaiting: 0.1,
		versions: 0.1,
	},
	crowded: {shuffling: 0.5, ordered: 0.2, hasty: 0.2, slowness: 0.2, deploys: 0.2, versions: 0.2},
	lasting: {kills: 0.5, deploys: 0.3, ordered: 0.2, hasty: 0.3, copies: 0.3, slowness: 0.2, spells: 0.2, versions: 0.2},
	killed: {
		kills: 1, skews: 0.2, stragglers: 0.5, shuffling: 0.5, duplicates: 0.2, copies: 0.3, losses: 0.3, spells: 0.1,
		ordered: 0.3, replays: 0.2, versions: 0.2,
	},
}

// config is what a seed makes of a history, less what is left out of it.
type config struct {
	seed seed
	// without names features and jobs that are left out.
	without []string

	profile profile
	on      map[feature]bool
	jobs    []*job
	sends   []*send
	outages []outage
	hosts   []*hostConfig

	visibility time.Duration
	// lease is how long a claim lasts where there is no deadline.
	lease       time.Duration
	maxReceives int
	concurrency int
	// releases are the present one and, if there are two versions, the other; rollout is
	// how they follow each other.
	releases []*release
	rollout  rollout
	attempts int
	// rate is the share of calls that fail, by each of the features.
	rate float64
	// hangAt is what hangs.
	hangAt string
	// calm is when all adversity is over, limit how long a history lasts at most.
	calm, limit time.Duration
}

// hostConfig is where the function runs.
type hostConfig struct {
	name string
	// timeout is how long an invocation or a batch may take; 0 for no limit.
	timeout time.Duration
	// pollers and perProcess are those of Lambda: how many invocations there are at a
	// time, and how many of them in one process.
	pollers, perProcess int
	// batches and drain are those of a worker.
	batches int
	drain   time.Duration
	// deploys is when its processes are replaced.
	deploys []time.Duration
}

func (h *hostConfig) isWorker() bool { return h.batches > 0 }

// String describes the host.
func (h *hostConfig) String() string {
	if h.isWorker() {
		return fmt.Sprintf("%s: worker, batches %d, drain %v, timeout %v, deploys %v",
			h.name, h.batches, h.drain, h.timeout, h.deploys)
	}
	return fmt.Sprintf("%s: lambda, pollers %d, per process %d, timeout %v, deploys %v",
		h.name, h.pollers, h.perProcess, h.timeout, h.deploys)
}

// outage is a time in which a service is down.
type outage struct {
	service  string
	from, to time.Duration
	// silent reports whether calls hang instead of failing.
	silent bool
}

// String describes the outage.
func (o outage) String() string {
	return fmt.Sprintf("%s from %v to %v, silent %v", o.service, o.from, o.to, o.silent)
}

func newConfig(s seed, without []string) *config {
	c := &config{seed: s, without: without, on: map[feature]bool{}}
	c.profile = pick(s.at("profile"), anything, anything, anything, poisoned, crowded, lasting, killed, refusing)
	for _, f := range features {
		share := f.share
		if c.profile != anything {
			share = shares[c.profile][f.name]
		}
		c.on[f.name] = chance(s.at("feature %s", f.name), share) && !c.leftOut(string(f.name))
	}
	if c.on[ordered] { // SQS keeps the order there, and hands out nothing twice
		c.on[shuffling], c.on[duplicates] = false, false
	}
	c.on[rekeyed] = c.on[rekeyed] && c.on[versions]
	c.on[deploys] = c.on[deploys] || c.on[versions]
	r := s.at("config")
	c.maxReceives = pick(r, 3, 5, 10, 30, 30, 30, 200)
	if many := pick(r, 5, 20, 200, 200, 200); c.on[ordered] {
		c.maxReceives = many
	}
	c.concurrency = pick(r, 1, 1, 2, 3, 8)
	if c.profile != anything {
		c.maxReceives, c.concurrency = pick(r, 30, 30, 200), pick(r, 1, 1, 1, 2, 3)
		if c.on[ordered] {
			c.maxReceives = 200
		}
	}
	c.attempts = pick(r, 3, 8)
	c.drawReleases(s.at("releases"))
	c.lease = pick(s.at("lease"), time.Minute, time.Minute, 10*time.Second, 5*time.Minute)
	c.rate = pick(r, 0.02, 0.05, 0.05, 0.15, 0.3)
	c.hangAt = pick(r, hangPoints...)
	c.calm = evenly(r, time.Minute, 5*time.Minute)
	c.drawOutages(s.at("outages"))
	c.drawHosts(s.at("hosts"))
	c.limit = c.calm + 4*time.Hour
	c.drawJobs(r)
	for _, j := range c.jobs {
		if c.limit += j.takes; j.kind == fatal {
			c.limit += time.Duration(c.maxReceives) * (c.visibility + time.Minute)
		}
	}
	c.drawSends()
	return c
}

func (c *config) leftOut(what string) bool { return slices.Contains(c.without, what) }

func (c *config) drawOutages(r *rand.Rand) {
	if !c.on[outages] {
		return
	}
	for range 1 + r.IntN(2) {
		o := outage{service: pick(r, "provider", "provider", "ledger", "ledger", "queue", "letters"), silent: chance(r, 0.3)}
		o.from = evenly(r, 0, time.Minute)
		o.to = o.from + between(r, time.Second, pick(r, time.Minute, 10*time.Minute, time.Hour))
		c.outages = append(c.outages, o)
		c.calm = max(c.calm, o.to+time.Second)
	}
}

// isDown reports whether a service is down. If its calls hang, for is how long they do.
func (c *config) isDown(service string, at time.Duration) (down bool, hang time.Duration) {
	for _, o := range c.outages {
		if o.service == service && o.from <= at && at < o.to {
			if o.silent {
				hang = o.to - at
			}
			return true, hang
		}
	}
	return false, 0
}

func (c *config) drawHosts(r *rand.Rand) {
	timeout := pick(r, 6*time.Second, 10*time.Second, 30*time.Second, time.Minute)
	lambda, workers := 1, 0
	switch x := r.Float64(); {
	case c.profile == crowded:
	case c.profile == lasting, x < 0.3:
		lambda, workers = 0, 1+r.IntN(2)
	case x < 0.4:
		workers = 1
	}
	c.visibility = 6 * timeout
	if lambda == 0 {
		c.visibility = pick(r, 10*time.Second, 30*time.Second, 3*time.Minute)
	}
	if c.profile == lasting {
		c.visibility = max(c.visibility, 30*time.Second)
		c.lease = min(max(c.lease, 30*time.Second), time.Minute)
	}
	if short := evenly(r, 2*time.Second, timeout).Truncate(time.Second); c.on[hasty] {
		c.visibility = short
	}
	for range lambda {
		c.hosts = append(c.hosts, &hostConfig{
			name: "fn", timeout: timeout, pollers: pick(r, 1, 1, 2, 3), perProcess: pick(r, 1, 1, 2),
		})
	}
	bounded := lambda > 0 || chance(r, 0.3) && c.profile != lasting
	for i := range workers {
		h := &hostConfig{
			name: fmt.Sprintf("w%d", i+1), batches: pick(r, 1, 2, 2, 4),
			drain: pick(r, time.Second, 10*time.Second, 30*time.Second),
		}
		if bounded {
			h.timeout = timeout
		}
		c.hosts = append(c.hosts, h)
	}
	for _, h := range c.hosts {
		r := c.seed.at("deploys of %s", h.name)
		if !c.on[deploys] {
			continue
		}
		for range 1 + r.IntN(3) {
			h.deploys = append(h.deploys, evenly(r, time.Second, c.calm))
		}
		slices.Sort(h.deploys)
	}
}

// timeout is how long a job has at least; 0 for as long as it takes.
func (c *config) timeout() time.Duration { return c.hosts[0].timeout }

// jobTime is how long an invocation has for jobs.
func (c *config) jobTime() time.Duration {
	reserve := max(2*time.Second, c.timeout()/10)
	return c.timeout() - min(reserve, c.timeout()/2)
}

func (c *config) drawJobs(r *rand.Rand) {
	few := r.IntN(3) == 0
	n := 3 + r.IntN(14)
	if few {
		n = 1 + r.IntN(3)
	}
	share := r.Float64() * r.Float64() // of jobs that are not healthy
	switch c.profile {
	case poisoned:
		share = 0.1 + 0.3*r.Float64()
	case refusing:
		share = 0.3 + 0.5*r.Float64()
	case crowded:
		share, n = 0, 10+r.IntN(30)
	case lasting:
		share *= 0.5
	case killed:
		share *= 0.3
	}
	groups := 1 + r.IntN(4)
	for i := range n {
		name := fmt.Sprintf("j%d", i)
		j := c.drawJob(c.seed.at("job %s", name), name, share)
		if j.group = fmt.Sprintf("g%d", c.seed.at("group of %s", name).IntN(groups)); !c.on[ordered] {
			j.group = ""
		}
		if !c.leftOut(name) {
			c.jobs = append(c.jobs, j)
		}
	}
}

// ample reports whether the queue hands messages out often enough for all that may come
// in a history.
func (c *config) ample() bool {
	return c.maxReceives >= 30 && !c.on[ordered] || c.maxReceives >= 200
}

// String describes the history.
func (c *config) String() string {
	var on, jobs, hosts []string
	for _, f := range features {
		if c.on[f.name] {
			on = append(on, string(f.name))
		}
	}
	for _, j := range c.jobs {
		jobs = append(jobs, j.String())
	}
	for _, h := range c.hosts {
		hosts = append(hosts, h.String())
	}
	text := fmt.Sprintf("about %s, visibility %v, lease %v, maxReceives %d, concurrency %d, attempts %d, "+
		"rate of failures %v, calm at %v\nhosts: %s\nfeatures: %s\njobs: %s\nsends: %v",
		c.profile, c.visibility, c.lease, c.maxReceives, c.concurrency, c.attempts, c.rate,
		c.calm, strings.Join(hosts, "; "), strings.Join(on, " "), strings.Join(jobs, ", "), c.sends)
	if c.on[versions] {
		text += fmt.Sprintf("\nreleases: %s, %v", c.rollout, c.releases)
	}
	if c.on[hangs] {
		text += "\nhangs: " + c.hangAt
	}
	if len(c.outages) > 0 {
		text += fmt.Sprintf("\noutages: %v", c.outages)
	}
	return text
}
