//go:build unix

package main

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Times of the provider.
const (
	lateAnswer = 1500 * time.Millisecond
	silence    = 20 * time.Second // unless the caller gives up before
)

// mostFailures is how often a job's calls fail, outages included: its budget is eight.
const mostFailures = 4

// call is a call of the provider.
type call struct {
	at      time.Time
	what    string // run, step or effect
	process int
	key     string
	answer  answer
	// done says that the ledger had the job as done when it began.
	done bool
}

// account is what the provider knows of a job.
type account struct {
	calls []call
	// keys are those that its effects came with, each with how often the effect took
	// place: once.
	keys map[string]int
	// failed counts the calls that failed.
	failed int
	// tried counts the calls that were to take effect.
	tried int
	// effect is when the first took place.
	effect time.Time
	// begun counts the runs. Those that are under way are in runs.
	begun int
	runs  []*attempt
	// overlaps are pairs of processes that ran the job at the same time.
	overlaps [][2]int
}

// attempt is a run of a job that is under way.
type attempt struct {
	process int
	over    chan struct{} // closed when it is over, or its process has ended
}

// provider is what the jobs call: it takes effect once for a key. It is safe for
// concurrent use.
type provider struct {
	jobs map[string]*job
	// isDone asks the ledger whether a job is done.
	isDone func(*job) bool

	mu       sync.Mutex
	down     bool
	accounts map[string]*account
	answers  map[answer]int
	// active has, by process, the jobs that are under way in it.
	active map[int]map[string]bool
	// watched has, by process, what is closed at its next call.
	watched map[int]chan struct{}
}

func newProvider(jobs []*job, isDone func(*job) bool) *provider {
	p := &provider{
		jobs: map[string]*job{}, isDone: isDone, accounts: map[string]*account{}, answers: map[answer]int{},
		active: map[int]map[string]bool{}, watched: map[int]chan struct{}{},
	}
	for _, j := range jobs {
		p.jobs[j.id], p.accounts[j.id] = j, &account{keys: map[string]int{}}
	}
	return p
}

func (p *provider) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /run/{job}", p.run)
	mux.HandleFunc("POST /step/{job}", p.step)
	mux.HandleFunc("POST /effect/{job}", p.take)
	return mux
}

// step notes that the step of a job runs, and answers at once.
func (p *provider) step(w http.ResponseWriter, r *http.Request) {
	j := p.jobs[r.PathValue("job")]
	if j == nil {
		http.NotFound(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	p.mu.Lock()
	p.note(p.accounts[j.id], r, "step", fine, false)
	p.mu.Unlock()
	say(w)
}

func (p *provider) outage(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = on
}

// running are the jobs that are under way in the process, and how often each began.
func (p *provider) running(process int) map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := map[string]int{}
	for id := range p.active[process] {
		in[id] = p.accounts[id].begun
	}
	return in
}

// book is a copy of the accounts, and of how often the provider gave which answer.
func (p *provider) book() (map[string]account, map[answer]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]account{}
	for id, a := range p.accounts {
		a := *a
		a.calls, a.keys, a.overlaps = slices.Clone(a.calls), maps.Clone(a.keys), slices.Clone(a.overlaps)
		all[id] = a
	}
	return all, maps.Clone(p.answers)
}

// run notes that a job begins, and answers at once. The answer ends with the run.
func (p *provider) run(w http.ResponseWriter, r *http.Request) {
	j := p.jobs[r.PathValue("job")]
	if j == nil {
		http.NotFound(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body) // the end of the connection is seen only then
	done := p.isDone(j)
	this := &attempt{process: processOf(r), over: make(chan struct{})}
	p.mu.Lock()
	a := p.accounts[j.id]
	p.note(a, r, "run", fine, done)
	others := slices.Clone(a.runs)
	a.begun++
	a.runs = append(a.runs, this)
	if p.active[this.process] == nil {
		p.active[this.process] = map[string]bool{}
	}
	p.active[this.process][j.id] = true
	p.mu.Unlock()
	say(w)
	_ = http.NewResponseController(w).Flush()
	p.compare(a, this, others)
	<-r.Context().Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	a.runs = slices.DeleteFunc(a.runs, func(r *attempt) bool { return r == this })
	if !slices.ContainsFunc(a.runs, func(r *attempt) bool { return r.process == this.process }) {
		delete(p.active[this.process], j.id)
	}
	close(this.over)
}

// overLimit is how long a run that is over may take to be seen as such.
const overLimit = time.Second

// compare notes the runs of a job that go on although another one has begun.
func (p *provider) compare(a *account, this *attempt, others []*attempt) {
	for _, other := range others {
		select {
		case <-other.over:
		case <-time.After(overLimit):
			p.mu.Lock()
			a.overlaps = append(a.overlaps, [2]int{other.process, this.process})
			p.mu.Unlock()
		}
	}
}

func processOf(r *http.Request) int {
	process, _ := strconv.Atoi(r.Header.Get("Process")) // 0 is no process
	return process
}

func (p *provider) note(a *account, r *http.Request, what string, gives answer, done bool) {
	process := processOf(r)
	a.calls = append(a.calls, call{
		at: time.Now(), what: what, process: process, key: r.Header.Get("Idempotency-Key"), answer: gives, done: done,
	})
	if next := p.watched[process]; next != nil {
		close(next)
		delete(p.watched, process)
	}
}

// nextCall is closed at the next call of the process.
func (p *provider) nextCall(process int) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watched[process] == nil {
		p.watched[process] = make(chan struct{})
	}
	return p.watched[process]
}

// take lets a job take effect, and answers as the plan says.
func (p *provider) take(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	gives := p.settle(r)
	switch gives {
	case late:
		if !pause(r, lateAnswer) {
			return
		}
	case silent, silentAfter:
		if pause(r, silence) {
			breakOff(w)
		}
		return
	case cut:
		breakOff(w)
		return
	case unavailable:
		http.Error(w, "out of order", http.StatusServiceUnavailable)
		return
	case throttled:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many", http.StatusTooManyRequests)
		return
	case garbage:
		_, _ = io.WriteString(w, "<html>")
		return
	}
	say(w)
}

// settle notes a call and its effect, if it is to have one.
func (p *provider) settle(r *http.Request) answer {
	j := p.jobs[r.PathValue("job")]
	if j == nil {
		return unavailable
	}
	done := p.isDone(j)
	p.mu.Lock()
	defer p.mu.Unlock()
	a, gives := p.accounts[j.id], fine
	if a.tried < len(j.answers) {
		gives = j.answers[a.tried]
	}
	a.tried++
	if p.down && gives == fine && a.failed < mostFailures {
		gives = unavailable
	}
	if gives != fine && gives != late {
		a.failed++
	}
	p.answers[gives]++
	p.note(a, r, "effect", gives, done)
	if gives != unavailable && gives != throttled && gives != silent {
		a.pay(r.Header.Get("Idempotency-Key"))
	}
	return gives
}

// pay takes effect unless the key has before.
func (a *account) pay(key string) {
	if a.keys[key] > 0 && key != "" {
		return
	}
	a.keys[key]++
	if a.effect.IsZero() {
		a.effect = time.Now()
	}
}

func say(w http.ResponseWriter) { _ = json.NewEncoder(w).Encode(map[string]bool{"done": true}) }
