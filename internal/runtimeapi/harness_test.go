package runtimeapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

// harness is a function under test with its output and its events.
type harness struct {
	t *testing.T
	*runtimeapi.Function

	mu     sync.Mutex
	lines  []string
	events []runtimeapi.Event
	said   chan string   // the lines of output, for tests that wait for one
	exits  chan struct{} // receives a signal for each Exited event
}

func start(t *testing.T, program string, change func(*runtimeapi.Options)) *harness {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{t: t, said: make(chan string, 1000), exits: make(chan struct{}, 1000)}
	o := runtimeapi.Options{
		Name:        "charge",
		Binary:      binary,
		Directory:   t.TempDir(),
		Timeout:     20 * time.Second,
		InitTimeout: 20 * time.Second,
		Environment: map[string]string{
			programVariable: program,
			"GORACE":        "atexit_sleep_ms=0", // without it each exit takes a second with -race
		},
		Output:  h.print,
		Observe: h.observe,
	}
	if testing.CoverMode() != "" {
		o.Environment["GOCOVERDIR"] = t.TempDir()
	}
	if change != nil {
		change(&o)
	}
	if h.Function, err = runtimeapi.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return h
}

func (h *harness) print(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line)
	h.said <- line
}

func (h *harness) observe(e runtimeapi.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	if e.Kind == runtimeapi.Exited {
		h.exits <- struct{}{}
	}
}

func (h *harness) output() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "\n")
}

// story returns the kinds of the events so far.
func (h *harness) story() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var kinds []string
	for _, e := range h.events {
		kinds = append(kinds, string(e.Kind))
	}
	return strings.Join(kinds, " ")
}

func (h *harness) invoke(o any) ([]byte, error) {
	h.t.Helper()
	payload, err := json.Marshal(o)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.Invoke(h.t.Context(), payload)
}

// report invokes the function and returns its report. The invocation must
// succeed.
func (h *harness) report(o order) report {
	h.t.Helper()
	answer, err := h.invoke(o)
	if err != nil {
		h.t.Fatalf("%+v: %v", o, err)
	}
	var r report
	if err := json.Unmarshal(answer, &r); err != nil {
		h.t.Fatalf("%+v answered %s: %v", o, answer, err)
	}
	return r
}

// fail invokes the function and returns its error. The invocation must fail.
func (h *harness) fail(o order) *runtimeapi.FunctionError {
	h.t.Helper()
	answer, err := h.invoke(o)
	failure, ok := errors.AsType[*runtimeapi.FunctionError](err)
	if !ok {
		h.t.Fatalf("%+v: answer %.100s, error %v, want a FunctionError", o, answer, err)
	}
	return failure
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

func accept(t *testing.T, listener net.Listener) net.Conn {
	t.Helper()
	c, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// awaitEnd waits until the process at the other end has ended.
func awaitEnd(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err := c.Read(make([]byte, 1))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the process still lives")
	}
}
