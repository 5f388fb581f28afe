package worker

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxBatch is the most messages of a batch: what one receive brings.
	maxBatch = 10
	// longBatch is how long a batch keeps the slots of its ended jobs. Slots that become
	// free one by one would cause small batches. If no job of a batch has ended by then,
	// jobs take long.
	longBatch = 5 * time.Second
)

// slots limits how many jobs run at the same time: for each of the worker's batches, as
// many as the processor runs of one batch. A batch that is not full leaves its other
// slots to another batch. So messages that arrive one by one also run concurrently.
type slots struct {
	// perBatch is how many slots a full batch takes.
	perBatch int
	// taken has one element for each slot in use, polling one for each running receive.
	// There are at most as many receives as batches, even if there are more slots.
	taken, polling chan struct{}
	// long reports whether jobs take long. Messages that wait behind them in a batch
	// would be given back and lose a receive.
	long atomic.Bool
}

func newSlots(batches, concurrency int) *slots {
	perBatch := min(concurrency, maxBatch)
	return &slots{
		perBatch: perBatch,
		taken:    make(chan struct{}, batches*perBatch),
		polling:  make(chan struct{}, batches),
	}
}

// take waits for a slot and takes more for the batch if they are free. It returns the
// number of slots; 0 if ctx ends before.
func (s *slots) take(ctx context.Context) (n int) {
	for _, wanted := range []chan struct{}{s.polling, s.taken} {
		select {
		case wanted <- struct{}{}:
		case <-ctx.Done():
			if wanted == s.taken {
				<-s.polling
			}
			return 0
		}
	}
	if ctx.Err() != nil { // both were ready
		s.free(1)
		<-s.polling
		return 0
	}
	for n = 1; n < s.perBatch; n++ {
		select {
		case s.taken <- struct{}{}:
		default:
			return n
		}
	}
	return n
}

// batchSize returns how many messages a batch with n slots may have. A batch with all of
// its slots may have more messages than slots, which wait, unless jobs take long.
func (s *slots) batchSize(n int) int {
	if n == s.perBatch && !s.long.Load() {
		return maxBatch
	}
	return n
}

// received ends the receive for which n slots were taken, and returns the slots that its
// messages keep.
func (s *slots) received(n, messages int) *batchSlots {
	kept := &batchSlots{slots: s, taken: min(n, messages), messages: messages, open: messages}
	s.free(n - kept.taken)
	<-s.polling // after that, so that the next receive finds all of them
	if messages > 0 {
		kept.late = time.AfterFunc(longBatch, kept.giveBack)
	}
	return kept
}

func (s *slots) free(n int) {
	for range n {
		<-s.taken
	}
}

// batchSlots are the slots of one batch. A long job keeps only its own.
type batchSlots struct {
	slots *slots
	late  *time.Timer // when slots are given back while the batch goes on; nil for none

	mu sync.Mutex
	// taken is the number of slots, open the number of messages without an outcome.
	taken, messages, open int
	isLate                bool
}

// ended records that a message has its outcome.
func (s *batchSlots) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.isLate {
		s.keep(s.open)
	}
}

// giveBack releases the slots of ended jobs. From then on, ended releases each slot at
// once.
func (s *batchSlots) giveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isLate = true
	s.slots.long.Store(s.open == s.messages)
	s.keep(s.open)
}

// end releases all slots.
func (s *batchSlots) end() {
	if s == nil {
		return
	}
	if s.late != nil {
		s.late.Stop()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.messages > 0 && !s.isLate {
		s.slots.long.Store(false)
	}
	s.keep(0)
}

// keep releases the slots beyond n.
func (s *batchSlots) keep(n int) {
	n = max(n, 0)
	s.slots.free(s.taken - min(s.taken, n))
	s.taken = min(s.taken, n)
}
