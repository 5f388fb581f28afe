//go:build unix

package parity_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// provider is the service that the jobs of a host call. A call takes effect
// once for a key. The response tells the job what to do in this run.
type provider struct {
	// held receives a value for each job that holds; closing released lets them
	// continue.
	held     chan struct{}
	released chan struct{}
	// freezes is called with the trial of a process that freezes; nil if the
	// host itself detects that.
	freezes func(trial string)

	mu      sync.Mutex
	runs    map[jobRef]int
	effects map[jobRef]map[string]bool // by job
}

func newProvider() *provider {
	return &provider{
		held: make(chan struct{}, 100), released: make(chan struct{}),
		runs: map[jobRef]int{}, effects: map[jobRef]map[string]bool{},
	}
}

// ServeHTTP handles a call of a job; its path names the trial.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call struct {
		ID string   `json:"id"`
		Do []string `json:"do"`
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil || len(call.Do) == 0 {
		http.Error(w, "no job", http.StatusBadRequest)
		return
	}
	trial := strings.TrimPrefix(r.URL.Path, "/")
	run := p.note(jobRef{trial, call.ID}, r.Header.Get("Idempotency-Key"))
	action := call.Do[min(run, len(call.Do))-1]
	if action == "hold" {
		p.held <- struct{}{}
		<-p.released
	}
	_, _ = io.WriteString(w, action) // a job whose process was killed does not read the response
	if action == "freeze" && p.freezes != nil {
		p.freezes(trial)
	}
}

// note records a call and returns the number of the run.
func (p *provider) note(job jobRef, key string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.effects[job] == nil {
		p.effects[job] = map[string]bool{}
	}
	p.effects[job][key] = true
	p.runs[job]++
	return p.runs[job]
}
