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
)

// features are all of them, each with the share of histories that have it.
var features = []struct {
	name  feature
	share float64
}{
	{kills, 0.5}, {refusals, 0.4}, {losses, 0.4}, {partials, 0.3}, {slowness, 0.3}, {shuffling, 0.5}, {duplicates, 0.3},
}

// config is what a seed makes of a history, less what is left out of it.
type config struct {
	seed seed
	// without names features and jobs that are left out.
	without []string

	on   map[feature]bool
	jobs []*job

	timeout, visibility time.Duration
	maxReceives         int
	concurrency         int
	pollers, perProcess int
	attempts            int
	// calm is when all adversity is over, limit how long a history lasts.
	calm, limit time.Duration
}

func newConfig(s seed, without []string) *config {
	c := &config{seed: s, without: without, on: map[feature]bool{}}
	for _, f := range features {
		c.on[f.name] = chance(s.at("feature %s", f.name), f.share) && !c.leftOut(string(f.name))
	}
	r := s.at("config")
	c.timeout = pick(r, 6*time.Second, 10*time.Second, 30*time.Second, time.Minute)
	c.visibility = 6 * c.timeout
	c.maxReceives = pick(r, 3, 5, 10, 30, 30, 30, 200)
	c.concurrency = pick(r, 1, 1, 2, 3, 8)
	c.pollers = pick(r, 1, 1, 2, 3)
	c.perProcess = pick(r, 1, 1, 2)
	c.attempts = pick(r, 3, 8)
	c.calm = evenly(r, time.Minute, 5*time.Minute)
	c.limit = c.calm + 3*time.Hour
	c.drawJobs(r)
	return c
}

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
	reserve := max(2*time.Second, c.timeout/10)
	return c.timeout - min(reserve, c.timeout/2)
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
	return fmt.Sprintf("timeout %v, visibility %v, maxReceives %d, concurrency %d, pollers %d, per process %d, "+
		"attempts %d, calm at %v\nfeatures: %s\njobs: %s",
		c.timeout, c.visibility, c.maxReceives, c.concurrency, c.pollers, c.perProcess, c.attempts, c.calm,
		strings.Join(on, " "), strings.Join(jobs, ", "))
}
