package handler

import (
	"context"
	"slices"
	"sync"
)

// turn is a fair lock. Many share it, or one has it alone, and those who wait
// get it in the order in which they came.
type turn struct {
	mu      sync.Mutex
	sharing int
	alone   bool
	waiting []*waiter
}

type waiter struct {
	alone   bool
	granted chan struct{}
}

// take waits for a share of the turn, or for all of it, and tells whether it got
// that before ctx ended or quit was closed.
func (t *turn) take(ctx context.Context, quit <-chan struct{}, alone bool) bool {
	t.mu.Lock()
	if len(t.waiting) == 0 && t.free(alone) {
		t.hold(alone)
		t.mu.Unlock()
		return true
	}
	w := &waiter{alone: alone, granted: make(chan struct{})}
	t.waiting = append(t.waiting, w)
	t.mu.Unlock()
	select {
	case <-w.granted:
		return true
	case <-ctx.Done():
	case <-quit:
	}
	return !t.leave(w)
}

// leave takes w out of the line, and tells whether it still stood there.
func (t *turn) leave(w *waiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting, w)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	t.grant()
	return true
}

func (t *turn) giveBack(alone bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if alone {
		t.alone = false
	} else {
		t.sharing--
	}
	t.grant()
}

// grant lets in those at the head of the line.
func (t *turn) grant() {
	for len(t.waiting) > 0 && t.free(t.waiting[0].alone) {
		t.hold(t.waiting[0].alone)
		close(t.waiting[0].granted)
		t.waiting = t.waiting[1:]
	}
}

func (t *turn) free(alone bool) bool { return !t.alone && (!alone || t.sharing == 0) }

func (t *turn) hold(alone bool) {
	if alone {
		t.alone = true
	} else {
		t.sharing++
	}
}
