package idem_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

func TestMemoryPassesTheSuite(t *testing.T) {
	t.Parallel()
	idemtest.Exercise(t, func(*testing.T) idem.Store { return idem.NewMemory() })
}

func TestAStoreMayDoWithoutRenewing(t *testing.T) {
	t.Parallel()
	idemtest.Exercise(t, func(*testing.T) idem.Store { return struct{ idem.Store }{idem.NewMemory()} })
}

func TestMemoryGivesTheErrorOfItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	store := idem.NewMemory()
	if _, err := store.Acquire(ctx, idem.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Acquire gave %v, want context.Canceled", err)
	}
	if err := store.Settle(ctx, idem.Claim{}, idem.Settlement{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Settle gave %v, want context.Canceled", err)
	}
	if err := store.Renew(ctx, idem.Claim{}, time.Time{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Renew gave %v, want context.Canceled", err)
	}
}
