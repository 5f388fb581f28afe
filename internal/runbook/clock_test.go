package runbook_test

import (
	"slices"
	"sync"
	"time"
)

// manualClock is a clock that only moves when a test advances it. A command then
// prints what the document shows, however long the CLI took to start.
type manualClock struct {
	mu    sync.Mutex
	now   time.Time
	tasks []*task
	// hasty makes time advance when somebody waits in a long poll.
	hasty bool
}

// maxPoll is the longest wait time of a receive in SQS.
const maxPoll = 20 * time.Second

// endPolls makes long polls end at once, by advancing the clock to their end.
func (c *manualClock) endPolls() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hasty = true
}

type task struct {
	due time.Time
	run func()
}

func (c *manualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *manualClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &task{c.now.Add(d), f}
	c.tasks = append(c.tasks, t)
	if c.hasty && d <= maxPoll {
		go c.advance(d)
	}
	return func() bool { return c.drop(t) }
}

func (c *manualClock) drop(t *task) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.tasks, t)
	if i < 0 {
		return false
	}
	c.tasks = slices.Delete(c.tasks, i, i+1)
	return true
}

// advance advances the clock and runs the tasks that become due, in their
// order.
func (c *manualClock) advance(d time.Duration) {
	end := c.Now().Add(d)
	for t := c.next(end); t != nil; t = c.next(end) {
		t.run()
	}
}

// next removes and returns the first task that is due by end. If there is none,
// it advances the clock to end.
func (c *manualClock) next(end time.Time) *task {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortStableFunc(c.tasks, func(a, b *task) int { return a.due.Compare(b.due) })
	if len(c.tasks) == 0 || c.tasks[0].due.After(end) {
		c.now = end
		return nil
	}
	t := c.tasks[0]
	c.tasks = c.tasks[1:]
	if t.due.After(c.now) {
		c.now = t.due
	}
	return t
}
