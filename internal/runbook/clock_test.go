package runbook_test

import (
	"slices"
	"sync"
	"time"
)

// handClock moves when it is told to, so that a command finds what the document
// shows, however long the CLI took to start.
type handClock struct {
	mu    sync.Mutex
	now   time.Time
	tasks []*task
	// hasty has time pass while somebody waits in a long poll.
	hasty bool
}

// maxPoll is the longest that SQS lets a receive wait.
const maxPoll = 20 * time.Second

// endPolls has long polls end at once, by moving on to their end.
func (c *handClock) endPolls() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hasty = true
}

type task struct {
	due time.Time
	run func()
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &task{c.now.Add(d), f}
	c.tasks = append(c.tasks, t)
	if c.hasty && d <= maxPoll {
		go c.advance(d)
	}
	return func() bool { return c.drop(t) }
}

func (c *handClock) drop(t *task) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.tasks, t)
	if i < 0 {
		return false
	}
	c.tasks = slices.Delete(c.tasks, i, i+1)
	return true
}

// advance moves on and runs what is due, in its order.
func (c *handClock) advance(d time.Duration) {
	end := c.Now().Add(d)
	for t := c.next(end); t != nil; t = c.next(end) {
		t.run()
	}
}

// next takes out the first task that is due by then, or goes to that time.
func (c *handClock) next(end time.Time) *task {
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
