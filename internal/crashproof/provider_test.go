//go:build unix

package crashproof_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
)

// provider is what the jobs of a scenario call. It takes effect once for a key.
// It holds the call of the culprit until as many healthy jobs are being called as
// the setting wants, and theirs until the culprit has done what it does.
type provider struct {
	scenario
	// culpritCalled is told of the calls of culprits.
	culpritCalled func(process string)

	mu      sync.Mutex
	calls   map[string][]string // by job: the processes
	effects map[string][]string // by job: the keys
	// first are the processes in which culprits got their first answer.
	first map[string]string
	// held counts the healthy jobs whose calls wait, accused the culprits.
	held, accused int
	// met is closed when all are there, off when there will be no meeting.
	met, off chan struct{}
	callOff  func()
	// crashed is closed when the process says that one of its jobs has crashed.
	crashed chan struct{}
	crash   func()
	// late are the jobs that were called in that process from then on. Where chance
	// says what runs, a call that began before may come after.
	late []string
}

func newProvider(s scenario) *provider {
	off, crashed := make(chan struct{}), make(chan struct{})
	return &provider{
		scenario: s, met: make(chan struct{}), off: off, callOff: sync.OnceFunc(func() { close(off) }),
		crashed: crashed, crash: sync.OnceFunc(func() { close(crashed) }),
		calls: map[string][]string{}, effects: map[string][]string{},
		first: map[string]string{},
	}
}

// ServeHTTP takes a call of the job that the path names.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(p.jobs, func(j job) bool { return j.ID == r.PathValue("job") })
	j, process := p.jobs[i], r.Header.Get("Process")
	p.note(j, process, r.Header.Get("Idempotency-Key"))
	if j.culprit {
		p.culpritCalled(process)
	}
	switch {
	case p.setting.held < 1:
	case j.culprit:
		p.meet(r.Context(), &p.accused, 1)
	case j.beside:
		switch met := p.meet(r.Context(), &p.held, p.setting.held); {
		case met && p.setting.hang:
			w.WriteHeader(http.StatusAccepted) // the job is to hang
		case met:
			p.stay(r.Context())
		}
	}
	if j.culprit && r.Context().Err() == nil {
		p.answer(j, process)
	}
}

func (p *provider) note(j job, process, key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[j.ID] = append(p.calls[j.ID], process)
	if !slices.Contains(p.effects[j.ID], key) {
		p.effects[j.ID] = append(p.effects[j.ID], key)
	}
	if p.setting.held >= 0 && slices.Contains(slices.Collect(maps.Values(p.first)), process) && p.hasCrashed() {
		p.late = append(p.late, j.ID)
	}
}

func (p *provider) hasCrashed() bool {
	select {
	case <-p.crashed:
		return true
	default:
		return false
	}
}

// meet waits until all are there, and tells whether it has: those that come when
// there are enough of their kind go on at once. When one of those that wait is
// cut off, there is no meeting.
func (p *provider) meet(ctx context.Context, there *int, enough int) bool {
	p.mu.Lock()
	if *there == enough {
		p.mu.Unlock()
		return false
	}
	*there++
	if p.accused == 1 && p.held == p.setting.held {
		close(p.met)
	}
	p.mu.Unlock()
	select {
	case <-p.met:
		return true
	case <-p.off:
		return false
	case <-ctx.Done():
		p.callOff()
		return false
	}
}

// stay waits until the culprit has done what it does: until the end of the process
// if it kills, and until the process is in doubt if that is soon.
func (p *provider) stay(ctx context.Context) {
	crashed := p.crashed
	switch {
	case p.says == abandoned:
		return
	case p.kills:
		crashed = nil
	}
	select {
	case <-crashed:
	case <-ctx.Done():
	}
}

// answer notes where a culprit ran for the first time.
func (p *provider) answer(j job, process string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first[j.ID] == "" {
		p.first[j.ID] = process
	}
}
