package bubble

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// watch looks at the goroutines of a bubble from outside of it, by the real clock.
type watch struct {
	every time.Duration
	// connection and other are how many looks in a row have to see the same: if a
	// goroutine waits for a connection, and if others wait for something outside.
	connection, other int
	// stuck is told the stacks of those that wait for something outside, once.
	stuck func(stacks string)

	mu    sync.Mutex
	id    string // of the bubble
	ended bool
	timer *time.Timer
	last  sight
	same  int // looks in a row that saw last
}

func (w *watch) run(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	w.mu.Lock()
	w.timer = time.AfterFunc(w.every, w.look)
	w.mu.Unlock()
	defer w.stop()
	synctest.Test(t, func(t *testing.T) {
		w.enter()
		f(t)
	})
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.timer.Stop()
}

// enter is called in the bubble.
func (w *watch) enter() {
	header := make([]byte, 256)
	header = header[:runtime.Stack(header, false)]
	w.mu.Lock()
	defer w.mu.Unlock()
	w.id = bubbleOf(string(header))
}

// look compares what the goroutines of the bubble do with what they did before. It
// counts looks and not time, so that a machine that slept or a debugger ends no test.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	now := see(allStacks(), w.id)
	if w.same++; now != w.last {
		w.last, w.same = now, 1
	}
	most := w.other
	if now.connection {
		most = w.connection
	}
	if now.outside != "" && w.same > most {
		w.stuck(now.outside)
		return
	}
	w.timer.Reset(w.every)
}

// allStacks is the text of package runtime on all goroutines, cut off after 64 MiB.
func allStacks() string {
	for size := 1 << 20; ; size *= 2 {
		text := make([]byte, size)
		if n := runtime.Stack(text, true); n < size || size >= 1<<26 {
			return string(text[:n])
		}
	}
}
