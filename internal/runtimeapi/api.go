package runtimeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

type phase uint8

const (
	starting phase = iota // has not asked for an event yet
	idle                  // waits for an event
	running               // has an event
	answered              // has reported on it, but not asked for another
)

// api is the Runtime API that one process talks to.
type api struct {
	options Options
	// handed is called when a process gets an event, before it can see it.
	handed func(*invocation)
	exited <-chan struct{}

	deliver    chan *invocation
	ready      chan struct{}       // one signal each time the process becomes idle
	initFailed chan *FunctionError // at most one
	mu         sync.Mutex
	phase      phase
	current    *invocation
	extensions map[string]bool
}

func newAPI(o Options, exited <-chan struct{}, handed func(*invocation)) *api {
	return &api{
		options:    o,
		handed:     handed,
		exited:     exited,
		deliver:    make(chan *invocation),
		ready:      make(chan struct{}, 1),
		initFailed: make(chan *FunctionError, 1),
		extensions: make(map[string]bool),
	}
}

func (a *api) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", a.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", a.response)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", a.failure)
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", a.initError)
	mux.HandleFunc("POST /2020-01-01/extension/register", a.register)
	mux.HandleFunc("GET /2020-01-01/extension/event/next", a.extensionEvent)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "NotFound", fmt.Sprintf("the Runtime API has no %s %s", r.Method, r.URL.Path))
	})
	return mux
}

func (a *api) next(w http.ResponseWriter, r *http.Request) {
	if !a.becomeIdle() {
		const message = "invocation/next called before the running invocation was answered"
		refuse(w, http.StatusForbidden, "InvalidStateTransition", message)
		return
	}
	select {
	case inv := <-a.deliver:
		a.begin(inv)
		inv.setHeaders(w.Header(), a.options.arn())
		_, _ = w.Write(inv.payload) // a process that is gone shows as its exit
	case <-r.Context().Done():
	case <-a.exited:
	}
}

func (a *api) becomeIdle() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch a.phase {
	case running:
		return false
	case starting, answered:
		a.phase = idle
		a.ready <- struct{}{} // has room: the signal before it was taken before the event was given
	case idle:
	}
	return true
}

func (a *api) begin(inv *invocation) {
	a.handed(inv)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.phase, a.current = running, inv
}

// claim gives the running invocation to the one request that may answer it.
func (a *api) claim(w http.ResponseWriter, r *http.Request) *invocation {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := r.PathValue("id")
	switch {
	case a.current == nil || a.current.id != id:
		refuse(w, http.StatusBadRequest, "InvalidRequestID", fmt.Sprintf("Invalid request ID %q", id))
		return nil
	case a.phase != running:
		refuse(w, http.StatusForbidden, "InvalidStateTransition", fmt.Sprintf("request %s is answered already", id))
		return nil
	}
	a.phase = answered
	return a.current
}

func (a *api) response(w http.ResponseWriter, r *http.Request) {
	inv := a.claim(w, r)
	if inv == nil {
		return
	}
	body, err := readAnswer(r)
	if err != nil {
		err.RequestID = inv.id
		inv.answered <- answer{err: err}
		if err.Type == TypeResponseSize {
			refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", err.Message)
			return
		}
	} else {
		inv.answered <- answer{payload: body}
	}
	accept(w)
}

func (a *api) failure(w http.ResponseWriter, r *http.Request) {
	inv := a.claim(w, r)
	if inv == nil {
		return
	}
	e := readReport(r)
	e.RequestID = inv.id
	inv.answered <- answer{err: e}
	accept(w)
}

func (a *api) initError(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.phase != starting {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", "init/error called after init")
		return
	}
	select {
	case a.initFailed <- readReport(r):
		accept(w)
	default:
		refuse(w, http.StatusForbidden, "InvalidStateTransition", "init/error called twice")
	}
}

func accept(w http.ResponseWriter) { write(w, http.StatusAccepted, map[string]string{"status": "OK"}) }

func refuse(w http.ResponseWriter, status int, code, message string) {
	write(w, status, map[string]string{"errorType": code, "errorMessage": message})
}

func write(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a process that is gone shows as its exit
}
