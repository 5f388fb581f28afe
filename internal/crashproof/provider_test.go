//go:build unix

package crashproof_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
)

// provider is the service that the jobs of a scenario call. A call takes effect
// once for a key. The provider holds the call of the culprit until as many
// healthy jobs are calling as the setting requires, and holds their calls until
// the culprit has crashed.
type provider struct {
	scenario

	mu      sync.Mutex
	calls   map[string][]string // processes by job
	effects map[string][]string // keys by job
	// first are the processes in which culprits got their first response.
	first map[string]string
	// held counts the healthy jobs whose calls wait, accused the culprits.
	held, accused int
	// met is closed when all have arrived, off when it is certain that they
	// will not.
	met, off chan struct{}
	callOff  func()
	// crashed is closed when the process logs that one of its jobs has crashed.
	crashed chan struct{}
	crash   func()
	// late are the jobs that were called in that process after the crash. In
	// settings with a random order it is not recorded, since a call that began
	// before the crash may arrive after it.
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

// ServeHTTP handles a call of the job that the path names.
func (p *provider) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(p.jobs, func(j job) bool { return j.ID == r.PathValue("job") })
	j, process := p.jobs[i], r.Header.Get("Process")
	p.note(j, process, r.Header.Get("Idempotency-Key"))
	switch {
	case p.setting.held < 1:
	case j.culprit:
		p.meet(r.Context(), &p.accused, 1)
	case j.beside:
		if p.meet(r.Context(), &p.held, p.setting.held) {
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

// meet waits until all have arrived, and reports whether it did. Further
// callers, after enough of their kind have arrived, do not wait. If a waiting
// call is cancelled, nobody waits any longer.
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

// stay waits until the culprit has crashed: until the end of the process if the
// culprit kills it, and otherwise until the process logs the crash, if it does
// so soon.
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

// answer records where a culprit ran for the first time.
func (p *provider) answer(j job, process string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first[j.ID] == "" {
		p.first[j.ID] = process
	}
}
