//go:build unix

package crashproof_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// job is what is sent.
type job struct {
	ID         string `json:"id"`
	Decoding   string `json:"decoding"`
	Validating string `json:"validating"`
	Running    string `json:"running"`
	// Silent: it does not call the provider.
	Silent bool `json:"silent"`
	// group is that of a FIFO queue.
	group string
	// culprit: the job is one. beside: its call may be one of those that are under
	// way when the culprit is called for the first time.
	culprit, beside bool
}

func (j job) body() string {
	body, _ := json.Marshal(j)
	return string(body)
}

// setting is what a culprit meets.
type setting struct {
	name string
	fifo bool
	// concurrency is how many jobs of a batch run at a time, invocations how many
	// batches a process has at a time, and processes how many there are of these.
	concurrency, invocations, processes int
	// jobs are those of the first batches, batch the size of one.
	jobs  func(culprit) []job
	batch int
	// held is how many calls of healthy jobs are under way when the culprit is
	// called for the first time; -1 where chance says. hang: these do not return.
	held int
	hang bool
	// slow: the ledger takes its time to note that a job is done.
	slow bool
}

// several tells whether jobs run side by side in a process.
func (s *setting) several() bool { return s.concurrency > 1 || s.invocations > 1 }

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

// How far down the settings culprits are tried. In those that are undisturbed a
// healthy job has ended before the culprit begins.
var undisturbed, few, most, every = settings[:3], settings[:4], settings[:7], settings

// behind are settings in which healthy jobs have ended right before the culprit begins.
var behind = []setting{
	{name: "one behind nine", concurrency: 1, jobs: last, slow: true},
	{name: "one behind nine", fifo: true, concurrency: 1, jobs: last, slow: true},
}

// othersHang is one in which the process ends by a panic although the calls of other
// invocations never return.
var othersHang = []setting{
	{name: "others hang", invocations: 4, concurrency: 1, jobs: sixteen, batch: 4, held: 3, hang: true},
}

func alone(c culprit) []job { return []job{c.as("culprit", "own")} }

// ten is a batch whose culprit has a neighbour before and behind it in its
// group, and others in other groups.
func ten(c culprit) []job { return among(c, 7) }

// last is a batch whose culprit is the last.
func last(c culprit) []job { return append(others("h", 9), c.as("culprit", "own")) }

// sixteen are four batches of four.
func sixteen(c culprit) []job { return append(among(c, 1), others("other", 12)...) }

func among(c culprit, n int) []job {
	jobs := []job{{ID: "before", group: "own"}, c.as("culprit", "own")}
	jobs = append(jobs, others("h", n)...)
	return append(jobs, job{ID: "behind", group: "own"})
}

// thirty are three batches, of which two have a culprit.
func thirty(c culprit) []job {
	var jobs []job
	for _, batch := range []string{"a", "b"} {
		jobs = append(jobs, others(batch, 4)...)
		jobs = append(jobs, c.as("culprit-"+batch, batch))
		jobs = append(jobs, others(batch+batch, 5)...)
	}
	return append(jobs, others("c", 10)...)
}

// as is the job of a culprit.
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
	for i, c := range culprits {
		for k, s := range c.in {
			if len(c.in) >= times.oneOf && (i+k)%times.oneOf != 0 {
				continue
			}
			s.processes, s.invocations = max(s.processes, 1), max(s.invocations, 1)
			if c.ends.Calls == 0 {
				s.held = 0
			}
			jobs := s.jobs(c)
			for i := range jobs {
				// Of a standard queue any of a batch may be the first to start.
				first := strings.HasPrefix(jobs[i].ID, "other")
				jobs[i].beside = !jobs[i].culprit && (s.fifo && jobs[i].beside || !s.fifo && (s.concurrency > 1 || first))
			}
			all = append(all, scenario{culprit: c, setting: s, jobs: jobs})
		}
	}
	return all
}

// title tells the culprit's scenarios apart.
func (s scenario) title() string {
	kind := "standard"
	if s.setting.fifo {
		kind = "FIFO"
	}
	return fmt.Sprintf("%s, %s, concurrency %d", s.setting.name, kind, s.setting.concurrency)
}

// queue is the name of its queue.
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

// form is how much is tried, and how long it takes. timeout is the function's,
// visibility the queue's: claims have lapsed by then. receives are those after which SQS
// moves what cannot be decoded.
type form struct {
	timeout, visibility time.Duration
	receives            int
	// oneOf says that each culprit meets one of so many of its settings, the next one others.
	oneOf int
	// undecodable are the settings of what cannot be decoded.
	undecodable []setting
}

// forms are the short one, which is part of each run of the tests, and the full one. A
// neighbour of what ends its process in decoding needs more receives to get through than
// the short one has time for.
var forms = map[bool]form{
	false: {timeout: 3 * time.Second, visibility: 6 * time.Second, receives: 4, oneOf: 3, undecodable: settings[:2]},
	true:  {timeout: 4 * time.Second, visibility: 7 * time.Second, receives: 8, oneOf: 1, undecodable: undisturbed},
}

// times is the form of this run.
var times = forms[os.Getenv("SQSAFE_CRASHPROOF") == "full"]

// want is how the scenario ends.
func (s scenario) want() ending {
	e := ending{Jobs: map[string]jobResult{}, Lost: map[string]int{}}
	for _, j := range s.jobs {
		f := healthy
		if j.culprit {
			f = s.ends
			if s.lost > 0 {
				e.Lost[s.status] += s.lost
			}
		}
		e.Jobs[j.ID] = f
	}
	if s.kills || s.setting.hang {
		e.Again = max(s.setting.held, 0)
	}
	return e
}
