package runtimeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// api is the Runtime API of one process.
type api struct {
	options Options
	// handed is called when a process gets an event, before the process can
	// read it.
	handed func(*invocation)
	// asks is called with true when a process requests an event, and with false
	// when it disconnects before it gets one.
	asks   func(bool)
	exited <-chan struct{}

	deliver    chan *invocation
	asked      chan struct{}       // closed when the process first requests an event
	again      chan struct{}       // receives a signal when a slot requests its next event after an answered invocation
	initFailed chan *FunctionError // receives at most one error

	mu      sync.Mutex
	started bool                   // whether asked is closed
	running map[string]*invocation // by request id
	// answered are the ids of answered invocations whose slots have not
	// requested another event, the oldest first.
	answered   []string
	extensions map[string]bool
}

func newAPI(o Options, exited <-chan struct{}, handed func(*invocation), asks func(bool)) *api {
	return &api{
		options:    o,
		handed:     handed,
		asks:       asks,
		exited:     exited,
		deliver:    make(chan *invocation),
		asked:      make(chan struct{}),
		again:      make(chan struct{}, o.slotsPerProcess()),
		initFailed: make(chan *FunctionError, 1),
		running:    make(map[string]*invocation),
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
	if !a.ask() {
		const message = "invocation/next called before the running invocation was answered"
		refuse(w, http.StatusForbidden, "InvalidStateTransition", message)
		return
	}
	a.asks(true)
	select {
	case inv := <-a.deliver:
		a.begin(inv)
		inv.setHeaders(w.Header(), a.options.arn(), time.Now().Add(a.options.Timeout))
		_, _ = w.Write(inv.payload) // a process that has ended is noticed by its exit
	case <-r.Context().Done():
		a.asks(false)
	case <-a.exited:
	}
}

// ask reports whether the process may wait for an event. It has one slot for
// each invocation that it may run at the same time.
func (a *api) ask() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case len(a.running) == a.options.slotsPerProcess():
		return false
	case !a.started:
		a.started = true
		close(a.asked)
	case len(a.answered) > 0:
		a.answered = a.answered[1:]
		a.again <- struct{}{} // never blocks: the buffer has one element per slot
	}
	return true
}

func (a *api) begin(inv *invocation) {
	a.handed(inv)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running[inv.id] = inv
}

// busy reports whether an invocation is running, that is, not answered.
func (a *api) busy() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.running) > 0
}

// claim removes a running invocation and returns it to the only request that
// may answer it.
func (a *api) claim(w http.ResponseWriter, r *http.Request) *invocation {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := r.PathValue("id")
	inv := a.running[id]
	switch {
	case inv != nil:
		delete(a.running, id)
		a.answered = append(a.answered, id)
	case slices.Contains(a.answered, id):
		refuse(w, http.StatusForbidden, "InvalidStateTransition", fmt.Sprintf("request %s is answered already", id))
	default:
		refuse(w, http.StatusBadRequest, "InvalidRequestID", fmt.Sprintf("Invalid request ID %q", id))
	}
	return inv
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
	if a.started {
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
	_ = json.NewEncoder(w).Encode(body) // a process that has ended is noticed by its exit
}
