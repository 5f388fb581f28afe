package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

// program is one of the compared functions.
type program struct {
	name, binary string
	// directory is where it runs; empty means here.
	directory   string
	environment map[string]string
	// remote programs use DynamoDB and SQS. Each of their processes gets emulators of its
	// own.
	remote bool
	// verdicts says that the program dead-letters what it cannot repeat.
	verdicts bool
}

// running is a process of a program.
type running struct {
	program
	function *runtimeapi.Function
	services *services // nil unless the program is remote
	pid      int
	output   tail
	// sequence counts the events that the process received.
	sequence int
}

const (
	// timeout is Lambda's longest, so that every program does the largest batch in time.
	// memoryMB is the size at which Lambda gives a function one whole processor.
	timeout  = 15 * time.Minute
	memoryMB = 1769
)

func (p program) start(ctx context.Context) (*running, error) {
	r := &running{program: p}
	environment := maps.Clone(p.environment)
	if p.remote {
		services, err := startServices(ctx)
		if err != nil {
			return nil, err
		}
		r.services = services
		environment = services.environment()
		maps.Copy(environment, p.environment)
	}
	function, err := runtimeapi.New(runtimeapi.Options{
		Name: p.name, Binary: p.binary, Directory: p.directory, Environment: environment,
		Timeout: timeout, MemoryMB: memoryMB,
		Output: r.output.add,
		Observe: func(e runtimeapi.Event) {
			if e.Kind == runtimeapi.Started {
				r.pid = e.PID
			}
		},
	})
	r.function = function
	if err != nil {
		return nil, errors.Join(err, r.closeServices())
	}
	return r, nil
}

// stop ends the process.
func (r *running) stop(ctx context.Context) error {
	return errors.Join(r.function.Close(ctx), r.closeServices())
}

func (r *running) closeServices() error {
	if r.services == nil {
		return nil
	}
	return r.services.close()
}

// invoke passes a copy of the event with new message ids to the process and
// checks the answer. It returns the time until the answer.
func (r *running) invoke(ctx context.Context, e *event) (time.Duration, error) {
	r.sequence++
	return r.repeat(ctx, e)
}

// repeat passes the event with the message ids of the last one.
func (r *running) repeat(ctx context.Context, e *event) (time.Duration, error) {
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
	bytes int
}

const linesKept = 5

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines[max(0, len(t.lines)-linesKept+1):], line)
	t.bytes += len(line) + 1
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}

// written returns how many bytes the process has written.
func (t *tail) written() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}
