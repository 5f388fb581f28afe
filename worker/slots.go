package worker

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	// maxBatch is the most messages of a batch: what one receive brings.
	maxBatch = 10
	// longBatch is how long a batch keeps the slots of its ended jobs. Slots that become
	// free one by one would cause small batches. If no job of a batch has ended by then,
	// jobs take long.
	longBatch = 4500 * time.Millisecond
	// together is how long the slot of an ended job waits for those of others in its batch,
	// after longBatch: jobs that are given back together are one receive, not many.
	together = time.Millisecond
)

// slots limits how many jobs run at the same time: for each of the worker's batches, as
// many as the processor runs of one batch. A batch that is not full leaves its other
// slots to another batch. So messages that arrive one by one also run concurrently.
type slots struct {
	// perBatch is how many slots a full batch takes.
	perBatch int
	// total is the number of slots. There are at most as many receives as batches, even if
	// there are more slots.
	total, batches int
	// long reports whether jobs take long. Messages that wait behind them in a batch
	// would be given back and lose a receive.
	long atomic.Bool

	mu sync.Mutex
	// taken is the number of slots in use, receives that of running receives.
	taken, receives int
	// waiting are those who wait for slots, the longest first. Each gets the number of its
	// slots.
	waiting []chan int
}

func newSlots(batches, concurrency int) *slots {
	perBatch := min(concurrency, maxBatch)
	return &slots{perBatch: perBatch, total: batches * perBatch, batches: batches}
}

// take waits until a receive may begin and a slot is free, and takes more slots for the
// batch if they are free. It returns the number of slots; 0 if ctx ends before. After the
// end of ctx no receive begins, whatever is free.
func (s *slots) take(ctx context.Context) int {
	if ctx.Err() != nil {
		return 0
	}
	granted := make(chan int, 1)
	s.mu.Lock()
	s.waiting = append(s.waiting, granted)
	s.grant()
	s.mu.Unlock()
	select {
	case n := <-granted:
		if ctx.Err() == nil {
			return n
		}
		s.release(n, 1)
	case <-ctx.Done():
		s.leave(granted)
	}
	return 0
}

// leave ends the wait of one whose context has ended. It may have got slots meanwhile.
func (s *slots) leave(granted chan int) {
	s.mu.Lock()
	s.waiting = slices.DeleteFunc(s.waiting, func(c chan int) bool { return c == granted })
	s.mu.Unlock()
	select {
	case n := <-granted:
		s.release(n, 1)
	default:
	}
}

// grant gives free slots to those who wait, in their order, while receives may begin. The
// caller holds mu.
func (s *slots) grant() {
	for len(s.waiting) > 0 && s.receives < s.batches && s.taken < s.total {
		n := min(s.perBatch, s.total-s.taken)
		s.taken += n
		s.receives++
		s.waiting[0] <- n
		s.waiting = slices.Delete(s.waiting, 0, 1)
	}
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
// messages keep: one for each, or for each group of a FIFO queue, since of a group one
// message runs at a time.
func (s *slots) received(n int, messages []types.Message, fifo bool) *batchSlots {
	kept := &batchSlots{slots: s, groups: map[string]string{}, open: map[string]int{}, messages: len(messages)}
	for _, m := range messages {
		id := aws.ToString(m.MessageId)
		group := id
		if fifo {
			group = m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]
		}
		kept.groups[id] = group
		kept.open[group]++
	}
	kept.taken = min(n, len(kept.open))
	s.release(n-kept.taken, 1)
	if len(messages) > 0 {
		kept.late = time.AfterFunc(longBatch, kept.giveBack)
	}
	return kept
}

// release frees slots and ends receives, both at once: the next receive finds all of them.
func (s *slots) release(slots, receives int) {
	if slots == 0 && receives == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken -= slots
	s.receives -= receives
	s.grant()
}

// batchSlots are the slots of one batch. A long job keeps only its own.
type batchSlots struct {
	slots *slots
	late  *time.Timer // when slots are given back while the batch goes on; nil for none

	mu sync.Mutex
	// taken is the number of slots.
	taken int
	// messages is the number of messages, ends the number of those that have an outcome.
	messages, ends int
	// groups has what each message shares a slot with, open the number of messages without
	// an outcome of each.
	groups map[string]string
	open   map[string]int
	isLate bool
}

// ended records that a message has its outcome.
func (s *batchSlots) ended(messageID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends++
	group := s.groups[messageID]
	if s.open[group]--; s.open[group] <= 0 {
		delete(s.open, group)
	}
	if s.isLate {
		s.late.Reset(together)
	}
}

// giveBack releases the slots of ended jobs. From then on, ended has it called again.
func (s *batchSlots) giveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isLate {
		s.isLate = true
		s.slots.long.Store(s.ends == 0)
	}
	s.keep(len(s.open))
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
	s.slots.release(s.taken-min(s.taken, n), 0)
	s.taken = min(s.taken, n)
}
