package handler

import (
	"context"
	"errors"
	"sync"

	"github.com/sqsafe/sqsafe/internal/usercall"
)

// waitGroup waits for goroutines of one message and collects their errors. After join it
// is closed: it accepts no goroutine until reopen.
type waitGroup struct {
	mu      sync.Mutex
	running int
	// idle is closed when the last goroutine has ended; nil unless join waits.
	idle chan struct{}
	// closed reports whether no more goroutines are accepted.
	closed bool
	errs   []error
	// cancel cancels the context of the message.
	cancel context.CancelFunc
}

// start runs f on a new goroutine. It returns false if the group is closed.
func (c *waitGroup) start(f func() error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.add() {
		return false
	}
	go usercall.Catch(f, func(err error, p *usercall.Panic) { c.ended(asError(err, p)) })
	return true
}

// enter counts the caller's own goroutine, which must call ended later. It returns false
// if the group is closed.
func (c *waitGroup) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add()
}

func (c *waitGroup) add() bool {
	if !c.closed {
		c.running++
	}
	return !c.closed
}

func (c *waitGroup) ended(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.errs = append(c.errs, err)
	}
	if _, panicked := err.(*PanicError); panicked && c.cancel != nil {
		c.cancel()
	}
	c.running--
	if c.running == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// join waits for all goroutines, closes the group, and joins their errors to err.
func (c *waitGroup) join(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.running > 0 {
		if c.idle == nil {
			c.idle = make(chan struct{})
		}
		idle := c.idle
		c.mu.Unlock()
		<-idle
		c.mu.Lock()
	}
	c.closed = true
	err = rejectTypedNil(err)
	if len(c.errs) == 0 {
		return err
	}
	errs := append([]error{err}, c.errs...)
	c.errs = nil
	return errors.Join(errs...)
}

// reopen lets the group accept goroutines again.
func (c *waitGroup) reopen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = false
}

// setCancel sets the function that cancels the context of the run.
func (c *waitGroup) setCancel(cancel context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
}
