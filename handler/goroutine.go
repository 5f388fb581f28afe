package handler

import (
	"context"
	"errors"
	"log/slog"
	"sync"
)

// Go runs fn on a goroutine of its own that belongs to the message of ctx: the
// handler is not through before fn is, and the error or panic of fn is the
// message's. A panic in a goroutine that is started by a go statement ends the
// process at once, with the whole batch, and its error is lost.
//
// Outside of a handler there is no message: a panic ends the process, and an
// error is logged.
func Go(ctx context.Context, fn func(ctx context.Context) error) {
	if m := FromContext(ctx); m != nil {
		m.crew.start(func() error { return fn(ctx) })
		return
	}
	go func() {
		if err := fn(ctx); err != nil {
			slog.ErrorContext(ctx, "goroutine failed outside of a handler", "error", err)
		}
	}()
}

// crew is the goroutines of one message's run.
type crew struct {
	running sync.WaitGroup
	mu      sync.Mutex
	errs    []error
}

func (c *crew) start(f func() error) {
	c.running.Add(1)
	go recovered(f, func(err error) {
		defer c.running.Done()
		if err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.errs = append(c.errs, err)
		}
	})
}

// join waits for all goroutines and adds what they have said.
func (c *crew) join(err error) error {
	c.running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.errs) == 0 {
		return err
	}
	errs := c.errs
	c.errs = nil
	return errors.Join(append([]error{err}, errs...)...)
}
