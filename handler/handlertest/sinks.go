package handlertest

import (
	"context"
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
	for _, change := range changes {
		if stored := s.byReceipt(change.Message.ReceiptHandle); stored != nil && change.Answer() == nil {
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
	for _, deletion := range deletions {
		if stored := s.byReceipt(deletion.Message.ReceiptHandle); stored != nil && deletion.Answer() == nil {
			stored.delivery.Delay = 0
			s.shelf.remove(stored)
		}
	}
}
