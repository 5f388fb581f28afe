package system

import (
	"context"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

// store names the calls of the ledger for gate and journal.
type store struct {
	idem.Store
	process *process
}

func (s *store) named(ctx context.Context, operation, id string, epoch int) context.Context {
	_, key, _ := strings.Cut(id, "#")
	return context.WithValue(ctx, operationKey{}, &call{operation: operation, subjects: []string{key}, epoch: epoch})
}

// Acquire implements [idem.Store].
func (s *store) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	s.process.mayHang("claim")
	a, err := s.Store.Acquire(s.named(ctx, "claim", r.ID, 0), r)
	if err == nil {
		s.process.judge.claimed(s.process, r, a)
	}
	return a, err
}

// Settle implements [idem.Store].
func (s *store) Settle(ctx context.Context, c idem.Claim, settlement idem.Settlement) error {
	s.process.mayHang("settle")
	return s.Store.Settle(s.named(ctx, settlement.Kind.String(), c.ID, c.Epoch), c, settlement)
}

// Renew implements [idem.Store].
func (s *store) Renew(ctx context.Context, c idem.Claim, until time.Time) error {
	return s.Store.Renew(s.named(ctx, "renew", c.ID, c.Epoch), c, until)
}

// RecordStep implements [idem.Store].
func (s *store) RecordStep(ctx context.Context, c idem.Claim, r idem.StepRecord) error {
	return s.Store.RecordStep(s.named(ctx, "step", c.ID, c.Epoch), c, r)
}
