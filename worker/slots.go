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
	// longBatch is how long a batch keeps the slots of its jobs that have ended: slots
	// that become free one by one bring small batches. Jobs take long if none of a batch
	// has ended by then.
	longBatch = 5 * time.Second
)

// slots bound how many jobs run at a time: as many for each of the worker's batches as
// the processor runs of one batch. A batch that is not full leaves its other slots to
// another batch, so that messages which come one by one run side by side too.
type slots struct {
	// perBatch is how many slots a full batch takes.
	perBatch int
	// taken holds one for each slot that is taken, polling one for each receive under
	// way. Receives are as few as batches, however many slots there are.
	taken, polling chan struct{}
	// long reports whether jobs take long. What waits behind them in a batch is given
	// back in the end, and has lost a receive.
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

// take waits for a slot and takes as many more for a batch as are free. It gives 0 if
// ctx ends before.
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
	for n = 1; n < s.perBatch; n++ {
		select {
		case s.taken <- struct{}{}:
		default:
			return n
		}
	}
	return n
}

// batchSize is how many messages a batch may have for which n slots were taken. One
// with all the slots of a batch may have more messages than slots, which wait, unless
// jobs take long.
func (s *slots) batchSize(n int) int {
	if n == s.perBatch && !s.long.Load() {
		return maxBatch
	}
	return n
}

// received ends the receive for which n slots were taken, and returns the share that
// its messages keep.
func (s *slots) received(n, messages int) *share {
	<-s.polling
	kept := &share{slots: s, taken: min(n, messages), messages: messages, open: messages}
	s.free(n - kept.taken)
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

// share is what one batch has of the slots. A long job keeps no more than its own.
type share struct {
	slots *slots
	late  *time.Timer // when slots are given back while the batch goes on; nil for none

	mu sync.Mutex
	// taken are the slots, open those of the messages that have no outcome yet.
	taken, messages, open int
	isLate                bool
}

// ended notes that a message has its outcome.
func (s *share) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.isLate {
		s.keep(s.open)
	}
}

// giveBack gives back the slots of jobs that have ended, from now on at once.
func (s *share) giveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isLate = true
	s.slots.long.Store(s.open == s.messages)
	s.keep(s.open)
}

// end gives back all of them.
func (s *share) end() {
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

// keep gives back what is more than n.
func (s *share) keep(n int) {
	n = max(n, 0)
	s.slots.free(s.taken - min(s.taken, n))
	s.taken = min(s.taken, n)
}
