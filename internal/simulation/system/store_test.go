package system

import (
	"context"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/simulation"
)

// store names the calls of the ledger for gate and journal.
type store struct {
	*dynamo.Store
	process *process
}

func (p *process) named(ctx context.Context, operation string, c idem.Claim) context.Context {
	_, key, _ := strings.Cut(c.ID, "#")
	return context.WithValue(ctx, operationKey{}, &call{
		operation: operation, subjects: []string{keyOf(key)}, epoch: c.Epoch, owner: c.Owner,
		message: p.nameOf(c.MessageID), messageID: c.MessageID,
	})
}

// Acquire implements [idem.Store].
func (s *store) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	s.process.mayHang("claim", r.MessageID)
	r.Now, r.Lease, r.Expires = s.out(r.Now), s.out(r.Lease), s.out(r.Expires)
	claim := idem.Claim{ID: r.ID, Owner: r.Owner, MessageID: r.MessageID}
	ctx = s.process.named(ctx, "claim", claim)
	named := ctx.Value(operationKey{}).(*call)
	named.now, named.lease = r.Now, r.Lease
	a, err := s.Store.Acquire(ctx, r)
	s.process.comesBack(ctx, "claim "+r.ID+" "+s.process.nameOf(r.MessageID))
	if err == nil {
		s.process.judge.claimed(s.process, r, a)
	}
	if s.process.release.previous {
		a.Claim = simulation.PreviousClaim(a.Claim)
	}
	a.Until, a.Claim.Lease = s.in(a.Until), s.in(a.Claim.Lease)
	return a, err
}

// settlement names a write about a claim; one that takes back a count of crashes apart
// from one that counts.
func (s *store) settlement(ctx context.Context, c idem.Claim, settlement idem.Settlement) context.Context {
	operation := settlement.Kind.String()
	if settlement.Kind == idem.SettleAlone && s.process.judge.takesBack(c.Owner, settlement.Crashes) {
		operation = "not " + operation
	}
	ctx = s.process.named(ctx, operation, c)
	named := ctx.Value(operationKey{}).(*call)
	named.lease = settlement.Lease
	named.attempts, named.history = settlement.Attempts, settlement.History.Len()
	if settlement.Failure != nil {
		named.reason = settlement.Failure.Reason
	}
	if settlement.Kind == idem.SettleVerdict {
		s.process.judge.began(named)
	}
	return ctx
}

// Settle implements [idem.Store].
func (s *store) Settle(ctx context.Context, c idem.Claim, settlement idem.Settlement) error {
	s.process.mayHang("settle", c.MessageID)
	settlement.Lease, settlement.Expires, settlement.DeadAt =
		s.out(settlement.Lease), s.out(settlement.Expires), s.out(settlement.DeadAt)
	err := s.Store.Settle(s.settlement(ctx, c, settlement), c, settlement)
	s.process.comesBack(ctx, "settle "+c.ID+" "+settlement.Kind.String())
	return err
}

// Renew implements [idem.Store].
func (s *store) Renew(ctx context.Context, c idem.Claim, until time.Time) error {
	ctx = s.process.named(ctx, "renew", c)
	ctx.Value(operationKey{}).(*call).lease = s.out(until)
	err := s.Store.Renew(ctx, c, s.out(until))
	s.process.comesBack(ctx, "renew "+c.ID)
	return err
}

// RecordStep implements [idem.Store].
func (s *store) RecordStep(ctx context.Context, c idem.Claim, r idem.StepRecord) error {
	err := s.Store.RecordStep(s.process.named(ctx, "step "+r.Name, c), c, r)
	s.process.comesBack(ctx, "step "+r.Name+" "+c.ID)
	return err
}

// out is a time as the process's clock tells it: it is wrong by the process's skew.
func (s *store) out(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(s.process.skew)
}

// in is a time that another clock has told as this one does.
func (s *store) in(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(-s.process.skew)
}
