package awstest

import (
	"slices"
	"sync"
	"time"
)

// Clock is a clock that changes only when [Clock.Advance] is called. It is safe for
// concurrent use.
type Clock struct {
	moving sync.Mutex // held by one call of Advance at a time
	mu     sync.Mutex
	now    time.Time
	set    []*timer
}

type timer struct {
	at time.Time
	f  func()
}

// NewClock returns a clock that shows start.
func NewClock(start time.Time) *Clock { return &Clock{now: start} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward by d. What is due until then happens in order, each at its
// own time: messages become visible, long polls end. Advance returns when that is done. A
// call that waited continues after that, and sees the time at the end; move the clock in
// steps where that matters. A d of 0 or less does nothing.
func (c *Clock) Advance(d time.Duration) {
	c.moving.Lock()
	defer c.moving.Unlock()
	c.mu.Lock()
	end := c.now.Add(max(d, 0))
	for {
		next := c.due(end)
		if next == nil {
			break
		}
		c.now = next.at
		c.mu.Unlock()
		next.f() // it may set timers
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}

// due takes out the first timer that is due by then; nil if there is none.
func (c *Clock) due(by time.Time) *timer {
	var first *timer
	for _, t := range c.set {
		if !t.at.After(by) && (first == nil || t.at.Before(first.at)) {
			first = t
		}
	}
	if first != nil {
		c.remove(first)
	}
	return first
}

// remove reports whether the timer was still set.
func (c *Clock) remove(t *timer) bool {
	n := len(c.set)
	c.set = slices.DeleteFunc(c.set, func(other *timer) bool { return other == t })
	return len(c.set) < n
}

// timers is a clock as the emulators use it.
type timers struct{ *Clock }

// AfterFunc calls f when the clock has moved by d.
func (c timers) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	if d <= 0 {
		go f() // the caller may hold what f needs
		return func() bool { return false }
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c.now.Add(d), f}
	c.set = append(c.set, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.remove(t)
	}
}
