package system

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing/synctest"
)

// turns order what goroutines do at the same moment of the bubble's time. Who takes a turn
// waits until all others wait too, and then those who do go on one after the other, in the
// order of their names. So it is not left to the scheduler of Go who is first.
type turns struct {
	mu      sync.Mutex
	waiting []*turn
	// arrived has a value when one waits. over is closed at the end.
	arrived, over chan struct{}
}

type turn struct {
	name  string
	comes chan struct{}
}

func newTurns() *turns { return &turns{arrived: make(chan struct{}, 1), over: make(chan struct{})} }

// take waits for the turn of the name.
func (t *turns) take(name string) {
	mine := &turn{name, make(chan struct{})}
	t.mu.Lock()
	t.waiting = append(t.waiting, mine)
	t.mu.Unlock()
	select {
	case t.arrived <- struct{}{}:
	default:
	}
	<-mine.comes
}

// give gives turns to those who wait, until the end.
func (t *turns) give() {
	for {
		select {
		case <-t.arrived:
		case <-t.over:
			return
		}
		synctest.Wait()
		t.mu.Lock()
		now := t.waiting
		t.waiting = nil
		t.mu.Unlock()
		slices.SortStableFunc(now, func(a, b *turn) int { return cmp.Compare(a.name, b.name) })
		for _, next := range now {
			close(next.comes)
			synctest.Wait()
		}
	}
}

// comesBack lets what a context has ended at the same moment come back one after the other.
func (p *process) comesBack(ctx context.Context, what string) {
	if ctx.Err() != nil {
		p.turns.take(p.name + " back from " + what)
	}
}

// end is called when nobody takes a turn any more.
func (t *turns) end() { close(t.over) }
