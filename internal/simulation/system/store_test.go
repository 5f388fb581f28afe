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

func (s *store) named(ctx context.Context, operation string, c idem.Claim) context.Context {
	_, key, _ := strings.Cut(c.ID, "#")
	return context.WithValue(ctx, operationKey{}, &call{
		operation: operation, subjects: []string{key}, epoch: c.Epoch, owner: c.Owner,
	})
}

// Acquire implements [idem.Store].
func (s *store) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	s.process.mayHang("claim")
	a, err := s.Store.Acquire(s.named(ctx, "claim", idem.Claim{ID: r.ID, Owner: r.Owner}), r)
	if err == nil {
		s.process.judge.claimed(s.process, r, a)
	}
	return a, err
}

// settlement names a write about a claim; one that takes back a count of crashes apart
// from one that counts.
func (s *store) settlement(ctx context.Context, c idem.Claim, settlement idem.Settlement) context.Context {
	operation := settlement.Kind.String()
	if settlement.Kind == idem.SettleAlone && settlement.Crashes == 0 {
		operation = "not " + operation
	}
	return s.named(ctx, operation, c)
}

// Settle implements [idem.Store].
func (s *store) Settle(ctx context.Context, c idem.Claim, settlement idem.Settlement) error {
	s.process.mayHang("settle")
	return s.Store.Settle(s.settlement(ctx, c, settlement), c, settlement)
}

// Renew implements [idem.Store].
func (s *store) Renew(ctx context.Context, c idem.Claim, until time.Time) error {
	return s.Store.Renew(s.named(ctx, "renew", c), c, until)
}

// RecordStep implements [idem.Store].
func (s *store) RecordStep(ctx context.Context, c idem.Claim, r idem.StepRecord) error {
	return s.Store.RecordStep(s.named(ctx, "step", c), c, r)
}
