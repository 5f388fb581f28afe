//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"
)

// pace is the time between two strikes: 300 in ten minutes.
const pace = 2 * time.Second

// plan is what a seed decides.
type plan struct {
	seed    uint64
	length  time.Duration
	jobs    []*job
	strikes []strike
	outages []outage
	replays []time.Duration
}

// end is how a job ends; see the program in folder job.
type end string

// The ends of jobs. All but a good one are poison.
const (
	well    end = ""
	exits   end = "exit"
	panics  end = "panic"
	hangs   end = "hang"
	refuses end = "refuse"
	odd     end = "odd"
	garbled end = "garbled" // its body is no JSON
)

var poison = []end{exits, panics, hangs, refuses, odd, garbled}

// job is one that is sent.
type job struct {
	id    string
	at    time.Duration // since the start
	queue *queue
	group string // of a FIFO queue
	end   end
	// before and after are how long it works before and after its effect.
	before, after time.Duration
	// stepped: a part of it is a step, which does not run again once it is recorded.
	stepped bool
	// copies are when it is sent again, after it was sent.
	copies []time.Duration
	// answers are the provider's to its first calls; then all is well.
	answers []answer
}

// body is the payload.
func (j *job) body() string {
	if j.end == garbled {
		return fmt.Sprintf(`{"id":%q,`, j.id)
	}
	body, _ := json.Marshal(map[string]any{
		"id": j.id, "before": j.before.Milliseconds(), "after": j.after.Milliseconds(), "end": j.end,
		"stepped": j.stepped,
	})
	return string(body)
}

// answer is how the provider answers a call.
type answer string

// The answers of the provider. Some come after the effect, so that the job does not
// learn of it.
const (
	fine        answer = "fine"
	late        answer = "late"
	garbage     answer = "garbage after the effect"
	unavailable answer = "503"
	throttled   answer = "429"
	cut         answer = "reset after the effect"
	silent      answer = "silence before the effect"
	silentAfter answer = "silence after the effect"
)

// strike is a signal for one process of a host, or for all of its host and queue.
type strike struct {
	at     time.Duration
	host   string
	signal syscall.Signal
	// freeze is how long a process is stopped with SIGSTOP.
	freeze time.Duration
	// victim says which of the host's living processes is hit: this share of the way
	// through their list.
	victim float64
	crowd  bool
	// aimed: it hits the process with the job that was hit most often, so that some are
	// suspects and are hit while they run alone.
	aimed bool
	// busy: it waits, for a second at most, until the process calls the provider, and
	// then for a while.
	busy  bool
	while time.Duration
}

// outage is a time in which nothing of a kind works.
type outage struct {
	what     string
	from, to time.Duration
}

// What an outage can be of.
const (
	ofTable    = "DynamoDB"
	ofQueues   = "SQS"
	ofProvider = "provider"
)

// newPlan draws the plan of a campaign with so many kills.
func newPlan(seed uint64, kills int) *plan {
	p := &plan{seed: seed, length: time.Duration(kills) * pace}
	p.drawStrikes(rand.New(rand.NewPCG(seed, 1)), kills)
	p.drawOutages(rand.New(rand.NewPCG(seed, 2)))
	p.drawJobs(rand.New(rand.NewPCG(seed, 3)))
	// What is sent back dies again, which takes its time.
	p.replays = []time.Duration{p.length * 3 / 10, p.length * 2 / 5}
	return p
}

// between draws a time.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Float64()*float64(most-least))
}

// deck is what is dealt in any order, again and again, so that even a short campaign has
// something of each kind.
func deck() []strike {
	all := []strike{{host: inFunction, signal: syscall.SIGKILL, crowd: true}}
	for _, card := range []struct {
		host                   string
		killed, ended, stopped int
	}{{inFunction, 6, 2, 3}, {inWorker, 4, 2, 2}} {
		all = slices.Concat(all,
			slices.Repeat([]strike{{host: card.host, signal: syscall.SIGKILL}}, card.killed),
			slices.Repeat([]strike{{host: card.host, signal: syscall.SIGTERM}}, card.ended),
			slices.Repeat([]strike{{host: card.host, signal: syscall.SIGSTOP}}, card.stopped))
	}
	return all
}

func (p *plan) drawStrikes(r *rand.Rand, kills int) {
	var dealt []strike
	for i := range kills {
		if len(dealt) == 0 {
			dealt = deck()
			r.Shuffle(len(dealt), func(a, b int) { dealt[a], dealt[b] = dealt[b], dealt[a] })
		}
		s := dealt[0]
		dealt = dealt[1:]
		s.at, s.victim = time.Duration(i)*pace+between(r, 0, pace), r.Float64()
		s.busy, s.while, s.aimed = r.IntN(3) > 0, between(r, 0, 150*time.Millisecond), r.IntN(4) == 0
		if s.signal == syscall.SIGSTOP {
			s.freeze = between(r, visibility+time.Second, visibility+5*time.Second)
		}
		p.strikes = append(p.strikes, s)
	}
}

func (p *plan) drawOutages(r *rand.Rand) {
	from := between(r, 4*time.Second, 12*time.Second)
	for i := r.IntN(3); from < p.length; i++ {
		o := outage{what: []string{ofTable, ofQueues, ofProvider}[i%3], from: from}
		o.to = from + between(r, time.Second, 4*time.Second)
		p.outages = append(p.outages, o)
		from = o.to + between(r, 10*time.Second, 30*time.Second)
	}
}

func (p *plan) drawJobs(r *rand.Rand) {
	poisoned := 0
	for at := time.Duration(0); at < p.length; at += between(r, 20*time.Millisecond, 230*time.Millisecond) {
		j := &job{id: fmt.Sprintf("job-%05d", len(p.jobs)), at: at, queue: queues[r.IntN(len(queues))]}
		if j.queue.fifo {
			j.group = fmt.Sprintf("group-%d", r.IntN(20))
		}
		// Poison takes up to two minutes to end, so that it comes early.
		if j.queue.takesPoison() && at < 2*p.length/5 && r.IntN(12) == 0 {
			j.end = poison[poisoned%len(poison)]
			poisoned++
		}
		j.before, j.after = between(r, 0, 150*time.Millisecond), between(r, 0, 150*time.Millisecond)
		switch n := r.IntN(10); {
		case j.queue.long && n < 4: // longer than the visibility timeout
			j.before, j.after = between(r, 0, 4*time.Second), between(r, 6*time.Second, 9*time.Second)
		case !j.queue.long && n == 0: // a good part of the function's time
			j.before = between(r, 500*time.Millisecond, 1500*time.Millisecond)
		}
		if !j.queue.fifo && j.end == well && r.IntN(6) == 0 {
			j.copies = append(j.copies, between(r, 0, 4*time.Second))
		}
		j.answers = drawAnswers(r)
		j.stepped = j.end == well && r.IntN(4) == 0
		p.jobs = append(p.jobs, j)
	}
}

// drawAnswers draws at most two that cost a job of its budget, of which garbage costs
// what no rule knows, at most one.
func drawAnswers(r *rand.Rand) []answer {
	bad := []answer{late, unavailable, throttled, cut, silent, silentAfter, garbage}
	switch n := r.IntN(20); {
	case n < 3:
		return []answer{bad[r.IntN(len(bad))]}
	case n == 3:
		return []answer{bad[r.IntN(len(bad))], bad[r.IntN(len(bad)-1)]}
	default:
		return nil
	}
}
