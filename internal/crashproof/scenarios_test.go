//go:build unix

package crashproof_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// job is the payload of a message.
type job struct {
	ID         string `json:"id"`
	Decoding   string `json:"decoding"`
	Validating string `json:"validating"`
	Running    string `json:"running"`
	// group is the message group in a FIFO queue.
	group string
	// culprit says that the job is one. beside says that its call may be
	// running when the culprit is called for the first time.
	culprit, beside bool
}

func (j job) body() string {
	body, _ := json.Marshal(j)
	return string(body)
}

// setting is the environment in which a culprit runs.
type setting struct {
	name string
	fifo bool
	// concurrency is how many jobs of a batch run at the same time, invocations
	// how many batches a process runs at the same time, and processes how many
	// processes there are.
	concurrency, invocations, processes int
	// jobs returns the jobs of the first batches; batch is the batch size.
	jobs  func(culprit) []job
	batch int
	// held is how many calls of healthy jobs are running when the culprit is
	// called for the first time; -1 if the number is random.
	held int
}

var settings = []setting{
	{name: "alone", concurrency: 1, jobs: alone},
	{name: "alone", fifo: true, concurrency: 8, jobs: alone},
	{name: "one in ten", concurrency: 1, jobs: ten},
	{name: "one in ten", concurrency: 8, jobs: ten, held: 7},
	{name: "one in ten", fifo: true, concurrency: 1, jobs: ten},
	{name: "one in ten", fifo: true, concurrency: 8, jobs: ten, held: 7},
	{name: "four invocations", invocations: 4, concurrency: 1, jobs: sixteen, batch: 4, held: 3},
	{name: "four invocations", invocations: 4, concurrency: 8, jobs: sixteen, batch: 4, held: 15},
	{name: "four invocations", invocations: 4, fifo: true, concurrency: 1, jobs: sixteen, batch: 4, held: 3},
	{name: "four invocations", invocations: 4, fifo: true, concurrency: 8, jobs: sixteen, batch: 4, held: 13},
	{name: "two batches of three", processes: 2, concurrency: 1, jobs: thirty},
	{name: "two batches of three", processes: 2, concurrency: 8, jobs: thirty, held: -1},
	{name: "alone", concurrency: 8, jobs: alone},
	{name: "alone", fifo: true, concurrency: 1, jobs: alone},
}

// Selections of settings for culprits. In those of undisturbed, a healthy job
// has ended before the culprit begins.
var undisturbed, few, most, every = settings[:3], settings[:4], settings[:7], settings

func alone(c culprit) []job { return []job{c.as("culprit", "own")} }

// ten returns a batch whose culprit has a job before and one after it in its
// group, and others in other groups.
func ten(c culprit) []job { return among(c, 7) }

// sixteen returns four batches of four.
func sixteen(c culprit) []job { return append(among(c, 1), others("other", 12)...) }

func among(c culprit, n int) []job {
	jobs := []job{{ID: "before", group: "own"}, c.as("culprit", "own")}
	jobs = append(jobs, others("h", n)...)
	return append(jobs, job{ID: "behind", group: "own"})
}

// thirty returns three batches; two of them have a culprit.
func thirty(c culprit) []job {
	var jobs []job
	for _, batch := range []string{"a", "b"} {
		jobs = append(jobs, others(batch, 4)...)
		jobs = append(jobs, c.as("culprit-"+batch, batch))
		jobs = append(jobs, others(batch+batch, 5)...)
	}
	return append(jobs, others("c", 10)...)
}

// as returns the job of a culprit with an id and a group.
func (c culprit) as(id, group string) job {
	j := c.job
	j.ID, j.group, j.culprit = id, group, true
	return j
}

func others(name string, n int) []job {
	var jobs []job
	for i := range n {
		id := fmt.Sprint(name, i+1)
		jobs = append(jobs, job{ID: id, group: id, beside: true})
	}
	return jobs
}

// scenario is a culprit in a setting.
type scenario struct {
	culprit
	setting setting
	jobs    []job
}

func scenarios() []scenario {
	var all []scenario
	for _, c := range culprits {
		for _, s := range c.in {
			s.processes, s.invocations = max(s.processes, 1), max(s.invocations, 1)
			if c.ends.Calls == 0 {
				s.held = 0
			}
			jobs := s.jobs(c)
			for i := range jobs {
				jobs[i].beside = jobs[i].beside || !s.fifo && s.concurrency > 1 && !jobs[i].culprit
			}
			all = append(all, scenario{culprit: c, setting: s, jobs: jobs})
		}
	}
	return all
}

// title identifies the scenario among those of its culprit.
func (s scenario) title() string {
	kind := "standard"
	if s.setting.fifo {
		kind = "FIFO"
	}
	return fmt.Sprintf("%s, %s, concurrency %d", s.setting.name, kind, s.setting.concurrency)
}

// queue returns the name of its queue.
func (s scenario) queue() string {
	name := strings.Map(func(r rune) rune {
		if r == ' ' || r == ',' || r == '.' {
			return '-'
		}
		return r
	}, s.name+"_"+s.title())
	if s.setting.fifo {
		name += ".fifo"
	}
	return name
}

// timeout is that of the function, visibility that of the queue in seconds.
// When the visibility timeout ends, the leases of claims have expired.
const (
	timeout    = 4 * time.Second
	visibility = 7
)

// want returns the expected final state.
func (s scenario) want() finalState {
	e := finalState{Jobs: map[string]jobResult{}, Lost: map[string]int{}}
	for _, j := range s.jobs {
		if e.Jobs[j.ID] = healthy; j.culprit {
			e.Jobs[j.ID] = s.ends
			if s.lost > 0 {
				e.Lost[s.status] += s.lost
			}
		}
	}
	if s.kills {
		e.Again = s.setting.held
	}
	return e
}
