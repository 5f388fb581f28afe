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

func (b *letterbox) Send(ctx context.Context, letters []handler.Letter) []handler.Sent {
	if b.killed.Load() {
		return make([]handler.Sent, 0) // nobody hears it
	}
	asked := b.asked
	if asked == nil {
		asked = &DeadLetterQueue{}
	}
	sent := asked.Send(ctx, letters)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, letter := range letters {
		if i >= len(sent) || sent[i].Err != nil || sent[i].MessageID == "" {
			continue
		}
		b.report.DeadLetters = append(b.report.DeadLetters, letter)
		if stored := b.byReceipt(letter.Message.ReceiptHandle); stored != nil {
			stored.job.Letter = &letter
		}
	}
	return sent
}

// tap is the source queue of a process.
type tap struct {
	*process
	asked handler.Queue // nil: all is done
}

func (s *tap) ChangeVisibility(ctx context.Context, changes []handler.VisibilityChange) []error {
	if s.killed.Load() {
		return allKilled(len(changes))
	}
	errs := make([]error, len(changes))
	if s.asked != nil {
		errs = s.asked.ChangeVisibility(ctx, changes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, change := range changes {
		if stored := s.byReceipt(change.Message.ReceiptHandle); stored != nil && i < len(errs) && errs[i] == nil {
			stored.visible = time.Now().Add(change.Timeout)
			stored.delivery.Delay = change.Timeout
		}
	}
	return errs
}

func (s *tap) Delete(ctx context.Context, messages []*handler.Message) []error {
	if s.killed.Load() {
		return allKilled(len(messages))
	}
	errs := make([]error, len(messages))
	if s.asked != nil {
		errs = s.asked.Delete(ctx, messages)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range messages {
		if stored := s.byReceipt(m.ReceiptHandle); stored != nil && i < len(errs) && errs[i] == nil {
			stored.delivery.Delay = 0
			s.shelf.remove(stored)
		}
	}
	return errs
}

func allKilled(n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = errKilled
	}
	return errs
}
