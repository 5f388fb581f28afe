package worker

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// stallAfter is longer than a poll loop may take between two batches: the longest
// receive, the longest pause after a failed one, and as much again in reserve.
const stallAfter = 2 * time.Minute

// health is the state that probes ask for.
type health struct {
	received, draining atomic.Bool

	mu    sync.Mutex
	loops []*pulse
}

// Health answers GET /livez, with 200 while every poll loop moves or is at work
// on a batch, and GET /readyz, with 200 from the first receive until the worker
// drains. Otherwise the answer is 503 and says why. An outage of SQS is no
// reason to start the process anew, so /livez does not tell of it. GET /metrics is that
// of [Worker.Metrics].
func (w *Worker) Health() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(rw http.ResponseWriter, _ *http.Request) { report(rw, w.health.stalled()) })
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, _ *http.Request) { report(rw, w.health.unready()) })
	mux.Handle("GET /metrics", w.Metrics())
	return mux
}

func report(w http.ResponseWriter, problem string) {
	if problem != "" {
		http.Error(w, problem, http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

func (h *health) stalled() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, loop := range h.loops {
		if loop.stalled() {
			return "a poll loop has stalled"
		}
	}
	return ""
}

func (h *health) unready() string {
	switch {
	case h.draining.Load():
		return "draining"
	case !h.received.Load():
		return "nothing received yet"
	}
	return ""
}

// watch adds a poll loop and returns its pulse.
func (h *health) watch() *pulse {
	p := &pulse{last: time.Now()}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loops = append(h.loops, p)
	return p
}

// pulse is the liveness state of one poll loop.
type pulse struct {
	mu   sync.Mutex
	last time.Time
	// resting reports whether the loop processes a batch, which may take any time, or has
	// ended.
	resting bool
}

// beat records that the loop makes progress.
func (p *pulse) beat() { p.set(false) }

// rest records that the loop need not make progress until the next beat.
func (p *pulse) rest() { p.set(true) }

func (p *pulse) set(resting bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.resting = time.Now(), resting
}

func (p *pulse) stalled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.resting && time.Since(p.last) > stallAfter
}
