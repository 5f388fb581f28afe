package system

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// feature is a kind of adversity that a history may have.
type feature string

const (
	kills      feature = "kills"      // processes are killed between and within calls
	refusals   feature = "refusals"   // calls fail before their effect
	losses     feature = "losses"     // answers are lost after the effect
	partials   feature = "partials"   // entries of batch calls fail
	slowness   feature = "slowness"   // some calls take seconds
	shuffling  feature = "shuffling"  // messages come in another order
	duplicates feature = "duplicates" // messages are handed out twice
	deploys    feature = "deploys"    // processes are replaced
)

// features are all of them, each with the share of histories that have it.
var features = []struct {
	name  feature
	share float64
}{
	{kills, 0.5}, {refusals, 0.4}, {losses, 0.4}, {partials, 0.3}, {slowness, 0.3}, {shuffling, 0.5}, {duplicates, 0.3},
	{deploys, 0.3},
}

// config is what a seed makes of a history, less what is left out of it.
type config struct {
	seed seed
	// without names features and jobs that are left out.
	without []string

	on   map[feature]bool
	jobs []*job

	hosts []*hostConfig

	visibility  time.Duration
	maxReceives int
	concurrency int
	attempts    int
	// calm is when all adversity is over, limit how long a history lasts.
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

func (h *hostConfig) String() string {
	if h.isWorker() {
		return fmt.Sprintf("%s: worker, batches %d, drain %v, timeout %v, deploys %v",
			h.name, h.batches, h.drain, h.timeout, h.deploys)
	}
	return fmt.Sprintf("%s: lambda, pollers %d, per process %d, timeout %v, deploys %v",
		h.name, h.pollers, h.perProcess, h.timeout, h.deploys)
}

func newConfig(s seed, without []string) *config {
	c := &config{seed: s, without: without, on: map[feature]bool{}}
	for _, f := range features {
		c.on[f.name] = chance(s.at("feature %s", f.name), f.share) && !c.leftOut(string(f.name))
	}
	r := s.at("config")
	c.maxReceives = pick(r, 3, 5, 10, 30, 30, 30, 200)
	c.concurrency = pick(r, 1, 1, 2, 3, 8)
	c.attempts = pick(r, 3, 8)
	c.calm = evenly(r, time.Minute, 5*time.Minute)
	c.drawHosts(c.seed.at("hosts"))
	c.limit = c.calm + 3*time.Hour
	c.drawJobs(r)
	for _, j := range c.jobs {
		c.limit += j.takes
	}
	return c
}

func (c *config) drawHosts(r *rand.Rand) {
	timeout := pick(r, 6*time.Second, 10*time.Second, 30*time.Second, time.Minute)
	lambda, workers := 1, 0
	switch x := r.Float64(); {
	case x < 0.3:
		lambda, workers = 0, 1+r.IntN(2)
	case x < 0.4:
		workers = 1
	}
	c.visibility = 6 * timeout
	if lambda == 0 {
		c.visibility = pick(r, 10*time.Second, 30*time.Second, 3*time.Minute)
	}
	for range lambda {
		c.hosts = append(c.hosts, &hostConfig{
			name: "fn", timeout: timeout, pollers: pick(r, 1, 1, 2, 3), perProcess: pick(r, 1, 1, 2),
		})
	}
	bounded := lambda > 0 || chance(r, 0.3)
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
		if c.on[deploys] {
			for range 1 + r.IntN(3) {
				h.deploys = append(h.deploys, evenly(r, time.Second, c.calm))
			}
			slices.Sort(h.deploys)
		}
	}
}

// timeout is how long a job has at least; 0 for as long as it takes.
func (c *config) timeout() time.Duration { return c.hosts[0].timeout }

func (c *config) leftOut(what string) bool { return slices.Contains(c.without, what) }

func (c *config) drawJobs(r *rand.Rand) {
	few := r.IntN(3) == 0
	n := 3 + r.IntN(14)
	if few {
		n = 1 + r.IntN(3)
	}
	odd := r.Float64() * r.Float64() // the share of jobs that are not healthy
	for i := range n {
		name := fmt.Sprintf("j%d", i)
		j := c.drawJob(c.seed.at("job %s", name), name, odd)
		if !c.leftOut(name) {
			c.jobs = append(c.jobs, j)
		}
	}
}

// jobTime is how long an invocation has for jobs.
func (c *config) jobTime() time.Duration {
	reserve := max(2*time.Second, c.timeout()/10)
	return c.timeout() - min(reserve, c.timeout()/2)
}

func (c *config) String() string {
	var on []string
	for _, f := range features {
		if c.on[f.name] {
			on = append(on, string(f.name))
		}
	}
	var jobs []string
	for _, j := range c.jobs {
		jobs = append(jobs, j.String())
	}
	return fmt.Sprintf("visibility %v, maxReceives %d, concurrency %d, attempts %d, calm at %v\n"+
		"hosts: %v\nfeatures: %s\njobs: %s",
		c.visibility, c.maxReceives, c.concurrency, c.attempts, c.calm, c.hosts,
		strings.Join(on, " "), strings.Join(jobs, ", "))
}
