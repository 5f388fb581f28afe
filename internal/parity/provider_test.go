//go:build unix

package parity_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// provider is what the jobs of a host call: it takes effect once for a key, and
// tells the job what to do in this run.
type provider struct {
	// held gets one for each job that holds; released lets them go on.
	held     chan struct{}
	released chan struct{}
	// freezes is called with the trial of a process that freezes; nil where the
	// host itself finds out.
	freezes func(trial string)

	mu      sync.Mutex
	runs    map[place]int
	effects map[place]map[string]bool // by key
}

func newProvider() *provider {
	return &provider{
		held: make(chan struct{}, 100), released: make(chan struct{}),
		runs: map[place]int{}, effects: map[place]map[string]bool{},
	}
}

// ServeHTTP takes calls of a trial's jobs at its path.
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
	run := p.note(place{trial, call.ID}, r.Header.Get("Idempotency-Key"))
	action := call.Do[min(run, len(call.Do))-1]
	if action == "hold" {
		p.held <- struct{}{}
		<-p.released
	}
	_, _ = io.WriteString(w, action) // a job that was killed does not read it
	if action == "freeze" && p.freezes != nil {
		p.freezes(trial)
	}
}

// note gives the number of the run.
func (p *provider) note(job place, key string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.effects[job] == nil {
		p.effects[job] = map[string]bool{}
	}
	p.effects[job][key] = true
	p.runs[job]++
	return p.runs[job]
}
