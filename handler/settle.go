package handler

import (
	"context"
	"errors"
	"fmt"

	"github.com/sqsafe/sqsafe/internal/usercall"
)

var errNoAnswer = errors.New("handler: the ledger returned neither a claim nor an outcome")

// settle writes the result to the ledger on a worker. The next run does not wait for the
// write.
func (b *batch) settle(d *delivery, ending func(context.Context) Ending) {
	ctx, cancel := b.ledgerContext()
	m, claim, counted := d.message, d.claim, d.counted
	b.assign(func() (end event) {
		defer cancel()
		var e Ending
		var res *Result
		usercall.Catch(
			func() error {
				if counted != nil {
					<-counted
				}
				e = ending(ctx)
				if res = claim.Settle(ctx, e); res != nil {
					res = b.resolver.complete(ctx, m, res.Job, res)
				}
				return nil
			},
			func(err error, p *usercall.Panic) {
				if err = asError(err, p); err != nil || res == nil {
					res = b.unwritten(m, e, err)
				}
				end = b.endOf(p, func() { b.conclude(d, res) })
			},
		)
		return end
	})
}

// unwritten returns the result if Settle panicked or returned nil.
func (b *batch) unwritten(m *Message, e Ending, err error) *Result {
	if err == nil {
		err = errNoAnswer
	}
	res := b.resolver.storeFailed(m, fmt.Errorf("settling: %w", err))
	if e.Result != nil && e.Result.Outcome == OutcomeDone {
		res.Outcome = OutcomeUnrecorded
	}
	return res
}
