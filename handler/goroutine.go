package handler

import (
	"context"
	"errors"
	"sync"

	"github.com/sqsafe/sqsafe/internal/usercall"
)

// crew is the goroutines of one message's run.
type crew struct {
	mu      sync.Mutex
	running int
	// idle is closed when the last of them has ended; nil unless somebody waits.
	idle chan struct{}
	// dismissed tells that nobody waits for further ones.
	dismissed bool
	errs      []error
	// cancel ends the context of the message.
	cancel context.CancelFunc
}

// start runs f, unless nobody will wait for it.
func (c *crew) start(f func() error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.add() {
		return false
	}
	go usercall.Catch(f, func(err error, p *usercall.Panic) { c.ended(asError(err, p)) })
	return true
}

// enter counts the caller's own goroutine, which calls ended then, unless nobody will
// wait for it.
func (c *crew) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add()
}

func (c *crew) add() bool {
	if !c.dismissed {
		c.running++
	}
	return !c.dismissed
}

func (c *crew) ended(err error) {
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

// join waits for all goroutines and adds what they have said. After it no more
// of them belong to the message, until it is admitted again.
func (c *crew) join(err error) error {
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
	c.dismissed = true
	err = rejectTypedNil(err)
	if len(c.errs) == 0 {
		return err
	}
	errs := append([]error{err}, c.errs...)
	c.errs = nil
	return errors.Join(errs...)
}

// admit lets the message have goroutines again.
func (c *crew) admit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dismissed = false
}

// cancelBy sets what ends the context of the run.
func (c *crew) cancelBy(cancel context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
}
