package simulation

import (
	"context"
	"slices"
	"testing/synctest"
	"time"
)

// step makes one thing happen. Each step has a time of its own, so that no two calls of
// which one step made one are over at once.
func (w *world) step() {
	wait(time.Microsecond)
	synctest.Wait()
	switch n := w.rng.IntN(100); {
	case n < 50 && w.pending() > 0:
		w.resume(w.pick(), w.fate)
	case n < 70:
		w.deliver()
	case n < 82:
		w.pass()
	case n < 90:
		w.interfere()
	case n < 92:
		w.kill(w.all()[w.rng.IntN(len(w.workers))])
	case n < 97 && len(w.strays) > 0:
		w.land()
	case n < 98:
		w.forget()
	case n < 99:
		w.deploy()
	default:
		w.deliver()
	}
	synctest.Wait()
}

// pick gives one of the tasks that wait, whose order is that of the workers.
func (w *world) pick() *task {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortFunc(w.parked, func(a, b *task) int {
		if a.worker != b.worker {
			return a.worker.index - b.worker.index
		}
		return int(a.at) - int(b.at)
	})
	return w.parked[w.rng.IntN(len(w.parked))]
}

// pending is the number of tasks that wait.
func (w *world) pending() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.parked)
}

// condemn lets a worker's process get no further than its next call. It tells whether
// the process was still alive.
func (w *world) condemn(p *worker) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead {
		return false
	}
	p.dead = true
	close(p.gone)
	return true
}

// resume lets a task go on with what fate says, if it still waits.
func (w *world) resume(t *task, fate func(*task) order) {
	if w.retire(t) {
		t.resume <- fate(t)
	}
}

// deliver hands a message to a worker that has none. Mostly it is one that no
// other has, as in SQS.
func (w *world) deliver() {
	m, worker := w.waiting(), w.idle()
	if m == nil || worker == nil {
		return
	}
	w.tell("%s gets %s", worker, m.id)
	w.locked(func() {
		worker.busy = true
		m.taken++
		m.receives++
	})
	go worker.receive(m)
}

func (w *world) waiting() *message {
	w.mu.Lock()
	defer w.mu.Unlock()
	var free, taken []*message
	for _, m := range w.messages {
		switch {
		case m.taken == 0:
			free = append(free, m)
		case !w.quiet && w.rng.IntN(8) == 0:
			taken = append(taken, m)
		}
	}
	if all := slices.Concat(free, taken); len(all) > 0 {
		return all[w.rng.IntN(len(all))]
	}
	return nil
}

func (w *world) idle() *worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	var idle []*worker
	for _, worker := range w.workers {
		if !worker.busy {
			idle = append(idle, worker)
		}
	}
	if len(idle) == 0 {
		return nil
	}
	return idle[w.rng.IntN(len(idle))]
}

// passing is how much time may go by at once.
var passing = []time.Duration{
	time.Millisecond, time.Second, 5 * time.Second, 20 * time.Second, 35 * time.Second, 10 * time.Minute,
}

// pass lets time go by, often to where a lease ends.
func (w *world) pass() {
	d := passing[w.rng.IntN(len(passing))]
	edge := time.Until(w.lease) + time.Duration(w.rng.IntN(5)-2)*time.Millisecond
	expiry := time.Until(w.expires) + time.Duration(w.rng.IntN(5)-2)*time.Second
	switch {
	case w.rng.IntN(3) == 0 && edge > 0 && edge < time.Hour:
		d = edge
	case w.rng.IntN(4) == 0 && w.pending() == 0 && expiry > 0 && expiry < longKeep/2:
		d, w.strays = expiry, nil
	case w.rng.IntN(3) == 0 && w.pending() == 0 && w.keep < longKeep:
		d, w.strays = w.keep+time.Minute, nil
	}
	w.tell("%v pass", d)
	wait(d)
}

// wait lets the time of the bubble go by.
func wait(d time.Duration) { <-time.After(d) }

// land lets a write arrive whose sender has given it up.
func (w *world) land() {
	i := w.rng.IntN(len(w.strays))
	stray := w.strays[i]
	w.strays = slices.Delete(w.strays, i, i+1)
	w.landing = true
	stray()
	w.landing = false
}

// kill ends a worker's process wherever it is. Another takes its place.
func (w *world) kill(victim *worker) {
	w.tell("%s is killed", victim)
	victim.replace()
	synctest.Wait()
}

// deploy starts an idle worker anew.
func (w *world) deploy() {
	if idle := w.idle(); idle != nil {
		idle.replace()
	}
}

// forget deletes an expired item, as TTL does sooner or later.
func (w *world) forget() {
	store, ok := w.store.(Forgetter)
	if !ok || w.status == "" || w.expires.Add(time.Minute).After(time.Now()) || len(w.strays) > 0 {
		return
	}
	w.tell("the expired item is deleted")
	if err := store.Forget(context.Background(), w.id()); err != nil {
		w.breach("the store works", "%v", err)
	}
	w.book.status = ""
}
