package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

// program is the binary of one of the compared functions.
type program struct{ name, binary string }

// running is a process of a program.
type running struct {
	program
	function *runtimeapi.Function
	pid      int
	output   tail
	// sequence counts the events that the process received.
	sequence int
}

const (
	// timeout is far longer than any invocation. memoryMB is the size at which
	// Lambda gives a function one whole processor.
	timeout  = time.Minute
	memoryMB = 1769
)

func (p program) start() (*running, error) {
	r := &running{program: p}
	function, err := runtimeapi.New(runtimeapi.Options{
		Name: p.name, Binary: p.binary, Timeout: timeout, MemoryMB: memoryMB,
		Output: r.output.add,
		Observe: func(e runtimeapi.Event) {
			if e.Kind == runtimeapi.Started {
				r.pid = e.PID
			}
		},
	})
	r.function = function
	return r, err
}

// stop ends the process.
func (r *running) stop(ctx context.Context) error { return r.function.Close(ctx) }

// invoke passes a copy of the event with new message ids to the process and
// checks the answer. It returns the time until the answer.
func (r *running) invoke(ctx context.Context, e *event) (time.Duration, error) {
	r.sequence++
	payload := e.renewed(r.sequence)
	start := time.Now()
	answer, err := r.function.Invoke(ctx, payload)
	took := time.Since(start)
	if err == nil {
		err = e.check(r.sequence, answer)
	}
	if err != nil {
		return 0, fmt.Errorf("program %s: %w\n%s", r.name, err, r.output.text())
	}
	return took, nil
}

// tail keeps the last lines of a process's output.
type tail struct {
	mu    sync.Mutex
	lines []string
}

const linesKept = 5

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines[max(0, len(t.lines)-linesKept+1):], line)
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}
