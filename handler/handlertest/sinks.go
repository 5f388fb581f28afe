package handlertest

import (
	"context"
	"errors"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// letterbox is the dead-letter queue of a process.
type letterbox struct {
	*process
	asked handler.DeadLetter // nil: every letter arrives
}

func (b *letterbox) Send(ctx context.Context, letters []handler.Letter) {
	if b.killed.Load() {
		return // nobody hears it
	}
	asked := b.asked
	if asked == nil {
		asked = &DeadLetterQueue{}
	}
	asked.Send(ctx, letters)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, letter := range letters {
		if letter.Answer() != nil {
			continue
		}
		b.report.DeadLetters = append(b.report.DeadLetters, letter)
		if stored := b.byReceipt(letter.Message.ReceiptHandle); stored != nil {
			stored.job.Letter = &letter
		}
	}
}

// tap is the source queue of a process.
type tap struct {
	*process
	asked handler.Queue // nil: all is done
}

func (s *tap) ChangeVisibility(ctx context.Context, changes []handler.VisibilityChange) {
	if s.killed.Load() {
		for i := range changes {
			changes[i].Err = errKilled
		}
		return
	}
	asked := s.asked
	if asked == nil {
		asked = &FakeQueue{}
	}
	asked.ChangeVisibility(ctx, changes)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range changes {
		change := &changes[i]
		stored := s.byReceipt(change.Message.ReceiptHandle)
		switch {
		case stored == nil || change.Answer() != nil:
		case !stored.inFlight():
			change.Done, change.Err = false, errNotInFlight
		default:
			stored.visible = time.Now().Add(change.Timeout)
			stored.delivery.Delay = change.Timeout
		}
	}
}

func (s *tap) Delete(ctx context.Context, deletions []handler.Deletion) {
	if s.killed.Load() {
		for i := range deletions {
			deletions[i].Err = errKilled
		}
		return
	}
	asked := s.asked
	if asked == nil {
		asked = &FakeQueue{}
	}
	asked.Delete(ctx, deletions)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range deletions {
		deletion := &deletions[i]
		stored := s.byReceipt(deletion.Message.ReceiptHandle)
		if stored == nil || deletion.Answer() != nil {
			continue
		}
		if s.acknowledge(stored); stored.delivery.Late {
			deletion.Done, deletion.Err = false, errNotInFlight
		}
	}
}

// errNotInFlight is the answer of SQS for a message that is visible again.
var errNotInFlight = errors.New("the message is not in flight: its visibility timeout has ended")
