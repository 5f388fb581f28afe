package idem_test

import (
	"context"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// A store that does not answer a claim, such as one behind a dead connection, holds up no
// slot for longer than a write may take, however long the invocation is.
func TestAClaimWithoutAnAnswerEndsInTime(t *testing.T) {
	t.Parallel()
	for name, timeout := range map[string]time.Duration{"worker": 0, "function": 15 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, func(h *harness) {
				dead := true
				h.faults.Before = func(ctx context.Context, call idemtest.Call) error {
					if call == idemtest.CallAcquire && dead {
						<-ctx.Done()
						return ctx.Err()
					}
					return nil
				}
				ctx, cancel := context.WithCancel(h.Context())
				if timeout > 0 {
					ctx, cancel = context.WithTimeout(h.Context(), timeout)
				}
				defer cancel()
				start := time.Now()
				h.want(h.deliverIn(ctx, received("m1", "x", 2)), handler.OutcomeRetry, fault.ReasonStore, 0)
				if took := time.Since(start); took > 12*time.Second {
					t.Errorf("took %v", took)
				}
				dead = false
				h.want(h.deliverIn(ctx, received("m1", "x", 3)), handler.OutcomeDone, "", 1)
			})
		})
	}
}
