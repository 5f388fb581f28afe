package simulation

import (
	"slices"
	"strings"
	"testing/synctest"
	"time"
)

// step makes one thing happen.
func (f *fleet) step() {
	synctest.Wait()
	switch n := f.rng.IntN(100); {
	case n < f.kills:
		f.hosts[f.rng.IntN(len(f.hosts))].kill()
	case n < 65 && f.waiting() > 0:
		f.resume(f.pick())
	case n < 75:
		d := f.passing()
		f.tell("%v pass", d)
		wait(d)
	case n < 77:
		f.locked(func() { f.send(f.jobs[f.rng.IntN(len(f.jobs))]) })
	default:
		f.deliver()
	}
	synctest.Wait()
}

// calm ends all faults and lets the queue run empty.
func (f *fleet) calm() {
	f.locked(func() { f.quiet = true })
	f.tell("all faults end")
	for round := 0; !f.broken(); round++ {
		synctest.Wait()
		switch {
		case f.waiting() > 0:
			f.resume(f.pick())
		case f.empty():
			f.finished()
			return
		case round > calmRounds:
			f.breach("every loop ends", "%d messages still come back after %d steps", len(f.queue), round)
		case f.rng.IntN(3) == 0 || !f.deliver():
			wait(f.passing())
		}
	}
}

// deliver hands a batch of messages to a process that has room for it. It tells whether
// there was one.
func (f *fleet) deliver() bool {
	h := f.hosts[f.rng.IntN(len(f.hosts))]
	f.mu.Lock()
	p := h.process
	batch := f.batch()
	if len(batch) == 0 || p.invocations >= longestQueue {
		f.mu.Unlock()
		return false
	}
	for _, m := range batch {
		if m.taken > 0 {
			m.disturbed++
		}
		m.receives++
		m.taken++
		m.visibleAt = time.Now().Add(visibility)
	}
	batch = f.redrive(batch)
	for _, m := range batch {
		p.batches[m]++
	}
	p.invocations++
	f.delivered++
	number := f.delivered
	f.mu.Unlock()
	go p.invoke(batch, number)
	return true
}

// passing is how much time goes by at once: now and then as long as a lone run keeps
// others away.
func (f *fleet) passing() time.Duration {
	if f.rng.IntN(12) == 0 {
		return loneTime + time.Second
	}
	return passing[f.rng.IntN(len(passing)-1)]
}

// visibility is the queue's timeout: six times that of an invocation.
const visibility = 6 * invocationTime

// batch draws messages that may be received: standard ones in any order, now and then
// one twice, and those of a FIFO group in their order, up to the first one that is on its way.
func (f *fleet) batch() (batch []*mail) {
	now := time.Now()
	hidden := func(m *mail) bool { return m.taken > 0 || m.visibleAt.After(now) }
	if !f.fifo {
		for _, i := range f.rng.Perm(len(f.queue)) {
			m := f.queue[i]
			copied := !f.quiet && m.taken > 0 && f.rng.IntN(10) == 0
			if len(batch) < 5 && (!hidden(m) || copied) {
				batch = append(batch, m)
			}
		}
		return batch
	}
	blocked := map[string]bool{}
	for _, m := range f.queue {
		blocked[m.job.group] = blocked[m.job.group] || hidden(m)
		if !blocked[m.job.group] && len(batch) < 5 {
			batch = append(batch, m)
		}
	}
	return batch
}

// longestQueue is how many invocations a process has at a time.
const longestQueue = 3

// redrive moves messages that were received too often, as SQS does.
func (f *fleet) redrive(batch []*mail) []*mail {
	return slices.DeleteFunc(batch, func(m *mail) bool {
		if f.maxReceives == 0 || m.receives <= f.maxReceives {
			return false
		}
		f.note("SQS moves %s", m.id)
		f.count("moved by SQS")
		m.job.moved = true
		if m.job.healthy() && !m.job.completed {
			f.runsOut(m)
		}
		f.remove(m)
		return true
	})
}

// halt is a goroutine that waits for the scheduler.
type halt struct {
	process *process
	at      point
	name    string
	job     *job
	resume  chan order
}

// pick gives one of those that wait, in an order that follows from the history.
func (f *fleet) pick() *halt {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.SortFunc(f.parked, func(a, b *halt) int {
		if a.process.number != b.process.number {
			return a.process.number - b.process.number
		}
		if a.at != b.at {
			return int(a.at) - int(b.at)
		}
		return strings.Compare(a.name, b.name)
	})
	return f.parked[f.rng.IntN(len(f.parked))]
}

func (f *fleet) waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.parked)
}

// resume lets one go on with what fate says, if it still waits.
func (f *fleet) resume(h *halt) {
	if f.retire(h) {
		h.resume <- f.destiny(h)
	}
}

func (f *fleet) retire(h *halt) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.Index(f.parked, h)
	if i >= 0 {
		f.parked = slices.Delete(f.parked, i, i+1)
	}
	return i >= 0
}

// destiny draws what becomes of a halt.
func (f *fleet) destiny(h *halt) order {
	switch h.at {
	case atJob:
		return h.job.fate(f)
	case atCall, atRenew, atSend, atDelete:
		if f.quiet || f.rng.Float64() >= f.faults {
			return goOn
		}
		return []order{drop, lose}[f.rng.IntN(2)]
	}
	return goOn
}
