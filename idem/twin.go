package idem

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// follow lets a message wait for another of its batch that asks for the same
// job. The error is its outcome where that one tells it; nil lets it ask the
// store, as the first does, and as one whose job had its outcome before.
func follow(ctx context.Context, m *handler.Message, id, hash string) error {
	first, err := m.First(ctx, id, hash)
	switch {
	case err != nil:
		return err
	case first == nil || first.SamePayload && first.Outcome == handler.OutcomeDuplicate:
		return nil
	case first.SamePayload && first.Outcome == handler.OutcomeDone:
		return &handler.Result{
			Outcome: handler.OutcomeDuplicate, Decision: fault.Decision{Reason: ReasonCompleted}, Job: m.Job,
		}
	default:
		return busy(m, ReasonClaimed, time.Now())
	}
}
