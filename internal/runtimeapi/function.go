package runtimeapi

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Function is a function and its processes. It is safe for concurrent use.
type Function struct {
	options Options
	slots   chan struct{} // one for each invocation that may run at the same time
	closing chan struct{}
	running sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	processes []*process // in the order in which they were started

	observing sync.Mutex
	writing   sync.Mutex
}

// New checks the options. Processes are started when they are needed.
func New(o Options) (*Function, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	var err error
	if o.Directory, err = filepath.Abs(o.Directory); err != nil {
		return nil, fmt.Errorf("function %s: directory: %w", o.Name, err)
	}
	if o.Binary, err = filepath.Abs(o.Binary); err != nil {
		return nil, fmt.Errorf("function %s: binary: %w", o.Name, err)
	}
	return &Function{
		options: o,
		slots:   make(chan struct{}, o.Concurrency*o.slotsPerProcess()),
		closing: make(chan struct{}),
	}, nil
}

// Invoke passes an event to a process with a free slot, or to a new process,
// and returns the response. If all processes are full it waits. The error of a
// failed invocation is a [*FunctionError]; after Close the error is
// [ErrClosed].
//
// If ctx ends, Invoke returns its cause. An invocation that has started
// continues, as on Lambda when the caller disconnects.
func (f *Function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	if len(payload) > maxEvent {
		return nil, fmt.Errorf("event of %d bytes for function %s: Lambda takes at most %d",
			len(payload), f.options.Name, maxEvent)
	}
	if err := f.reserve(ctx); err != nil {
		return nil, err
	}
	inv := newInvocation(ctx, payload)
	if !f.track(func() { f.serve(inv) }) {
		<-f.slots
		return nil, ErrClosed
	}
	select {
	case a := <-inv.result:
		return a.payload, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close ends the processes: it sends SIGTERM, and SIGKILL after [Options].Grace
// or at the end of ctx. It returns when all of them have ended. The error is
// that of ctx if ctx ended before the grace period. Invocations that wait or
// start later return [ErrClosed].
func (f *Function) Close(ctx context.Context) error {
	for _, p := range f.stopAccepting() {
		p.terminate()
	}
	ended := make(chan struct{})
	go func() { f.running.Wait(); close(ended) }()
	timer := time.NewTimer(f.options.Grace)
	defer timer.Stop()
	var err error
	select {
	case <-ended:
		return nil
	case <-timer.C:
	case <-ctx.Done():
		err = fmt.Errorf("closing function %s: %w", f.options.Name, context.Cause(ctx))
	}
	for _, p := range f.stopAccepting() {
		p.kill()
	}
	<-ended
	return err
}

func (f *Function) reserve(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case f.slots <- struct{}{}:
		return nil
	case <-f.closing:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// track runs work in its own goroutine, which Close waits for. It returns false
// if the function is closed.
func (f *Function) track(work func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.running.Go(work)
	return true
}

// stopAccepting makes the function refuse new invocations, and returns the running
// processes.
func (f *Function) stopAccepting() []*process {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed = true
		close(f.closing)
	}
	return slices.Clone(f.processes)
}

func (f *Function) observe(e Event) {
	if f.options.Observe == nil {
		return
	}
	e.Time, e.Function = time.Now(), f.options.Name
	f.observing.Lock()
	defer f.observing.Unlock()
	f.options.Observe(e)
}

func (f *Function) print(line string) {
	if f.options.Output == nil {
		return
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	f.options.Output(line)
}
