package idem

import (
	"context"
	"strings"
	"sync"
	"time"
)

// Memory is a [Store] for tests and for programs with one process. It keeps everything
// until the process ends. It is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	items map[string]*Item // none is changed in place
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{items: map[string]*Item{}} }

// Acquire implements [Store]. Its only errors are those of ctx.
func (s *Memory) Acquire(ctx context.Context, r Request) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := Decide(s.items[r.ID], r)
	if d.Write != nil {
		d.Write.MessageID = strings.Clone(d.Write.MessageID) // else it keeps its whole event
		s.items[r.ID] = d.Write
	}
	return d.Answer, nil
}

// Settle implements [Store]. Its only errors are [*LateError] and those of ctx.
func (s *Memory) Settle(ctx context.Context, c Claim, settlement Settlement) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	item := s.items[c.ID]
	if item == nil || !settlement.fits(item, c) {
		return settlement.Refused(item, c)
	}
	next := settlement.Apply(*item, c)
	s.items[c.ID] = &next
	return nil
}

// Renew implements [Store]. Its errors are those of Settle.
func (s *Memory) Renew(ctx context.Context, c Claim, until time.Time) error {
	return s.Settle(ctx, c, Settlement{Kind: SettleRenew, Lease: until})
}
