package idem_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

func TestMemoryPassesTheSuite(t *testing.T) {
	t.Parallel()
	idemtest.Exercise(t, func(*testing.T) idem.Store { return idem.NewMemory() })
}

// wrapped is a store as a wrapper for traces or metrics makes it.
type wrapped struct{ idem.Store }

func TestAWrappedStoreIsAWholeOne(t *testing.T) {
	t.Parallel()
	idemtest.Exercise(t, func(*testing.T) idem.Store { return wrapped{idem.NewMemory()} })
	idemtest.Exercise(t, func(*testing.T) idem.Store { return &idemtest.Faulty{Store: idem.NewMemory()} })
}

func TestAJobOnAWrappedStoreIsRenewedAndHasItsSteps(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.store = wrapped{h}
		o := &order{}
		h.job = func(ctx context.Context, m *handler.Message) error {
			return errors.Join(until(ctx, 50*time.Second), o.run(ctx, m))
		}
		h.want(h.work(), handler.OutcomeDone, "", 1)
		o.ran(h, "m1#reserve", "m1#charge", "m1#email")
		h.asks("acquire", "2 renew", "first step reserve", "step charge", "step email", "complete")
	})
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
	if err := store.RecordStep(ctx, idem.Claim{}, idem.StepRecord{}); !errors.Is(err, context.Canceled) {
		t.Errorf("RecordStep gave %v, want context.Canceled", err)
	}
	if err := store.Renew(ctx, idem.Claim{}, time.Time{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Renew gave %v, want context.Canceled", err)
	}
}
