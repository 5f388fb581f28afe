package worker

import "context"

// maxBatch is the most messages of a batch: what one receive brings.
const maxBatch = 10

// slots bound how many jobs run at a time: as many for each of the worker's batches as
// the processor runs of one batch. A batch that is not full leaves its other slots to
// another batch, so that messages which come one by one run side by side too.
type slots struct {
	// perBatch is how many slots a full batch takes.
	perBatch int
	// taken holds one for each slot that is taken, polling one for each receive under
	// way. Receives are as few as batches, however many slots there are.
	taken, polling chan struct{}
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
// with all the slots of a batch may have more messages than slots: these wait.
func (s *slots) batchSize(n int) int {
	if n == s.perBatch {
		return maxBatch
	}
	return n
}

// received ends the receive for which n slots were taken, and returns how many of them
// its messages keep.
func (s *slots) received(n, messages int) (kept int) {
	<-s.polling
	kept = min(n, messages)
	s.free(n - kept)
	return kept
}

func (s *slots) free(n int) {
	for range n {
		<-s.taken
	}
}
