package handlertest

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// ledger is the ledger of a process, which hears nothing more of a killed one.
type ledger struct {
	handler.Ledger
	process *process
}

// Ahead is false: jobs that are claimed side by side start in the order of the
// answers, and a test is to run the same way each time.
func (l *ledger) Ahead() bool { return false }

func (l *ledger) Claim(
	ctx context.Context, m *handler.Message, id handler.Identity, end time.Time,
) handler.ClaimAnswer {
	if l.process.killed.Load() {
		return handler.ClaimAnswer{Decided: unheard()}
	}
	answer := l.Ledger.Claim(ctx, m, id, end)
	if answer.Claim != nil {
		answer.Claim = &claim{answer.Claim, l.process}
	}
	return answer
}

// claim is one of a process.
type claim struct {
	handler.Claim
	process *process
}

func (c *claim) CountCrash(ctx context.Context, counted bool) error {
	if c.process.killed.Load() {
		return errKilled
	}
	return c.Claim.CountCrash(ctx, counted)
}

func (c *claim) Settle(ctx context.Context, e handler.Ending) *handler.Result {
	if c.process.killed.Load() {
		return unheard()
	}
	return c.Claim.Settle(ctx, e)
}

func (c *claim) Confirm(ctx context.Context, deadLetterID string) error {
	if c.process.killed.Load() {
		return errKilled
	}
	return c.Claim.Confirm(ctx, deadLetterID)
}

// unheard is the outcome that a killed process would have seen, and that nobody sees.
func unheard() *handler.Result {
	return &handler.Result{
		Outcome:  handler.OutcomeRetry,
		Decision: fault.Decision{Class: fault.ClassRetryable, Reason: fault.ReasonStore},
		Err:      errKilled,
	}
}
