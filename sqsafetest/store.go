package sqsafetest

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

// store is the ledger's store: one in memory, which cannot be reached while the queue's
// FailStore has an error.
type store struct {
	memory *idem.Memory
	queue  *Queue
}

func (s *store) fail() error {
	if s.queue.FailStore == nil {
		return nil
	}
	return s.queue.FailStore()
}

func (s *store) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	if err := s.fail(); err != nil {
		return idem.Answer{}, err
	}
	return s.memory.Acquire(ctx, r)
}

func (s *store) Settle(ctx context.Context, c idem.Claim, settlement idem.Settlement) error {
	if err := s.fail(); err != nil {
		return err
	}
	return s.memory.Settle(ctx, c, settlement)
}

func (s *store) Renew(ctx context.Context, c idem.Claim, until time.Time) error {
	if err := s.fail(); err != nil {
		return err
	}
	return s.memory.Renew(ctx, c, until)
}

func (s *store) RecordStep(ctx context.Context, c idem.Claim, step idem.StepRecord) error {
	if err := s.fail(); err != nil {
		return err
	}
	return s.memory.RecordStep(ctx, c, step)
}
