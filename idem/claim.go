package idem

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/deadline"
)

// claim is the claim of one delivery on its job.
type claim struct {
	*Ledger
	message *handler.Message
	answer  Answer
	// end is the end of the invocation; zero without a deadline, when the claim is
	// renewed.
	end time.Time
	// completion is for the job's own transaction, which may complete the job.
	completion Completion
	steps      steps
	// job is the context of the run.
	job     jobContext
	renewal *renewal // nil where the claim is not renewed

	mu sync.Mutex
	// lease is the end of the claim. asked is the one that the last renewal has asked for: if
	// its answer was lost, the store may have it. lost is why the claim was lost; nil if it was
	// not.
	lease  time.Time
	asked  time.Time
	lost   *LostError
	cancel context.CancelCauseFunc // of the run; nil before it
	// counting is the write of CountCrash under way; settling says that none may follow.
	counting *counting
	settling bool
}

// counting is a write that can be ended and awaited.
type counting struct {
	quit context.CancelFunc
	done chan struct{}
}

var _ handler.Claim = (*claim)(nil)

func (l *Ledger) newClaim(m *handler.Message, a Answer, end time.Time) *claim {
	c := &claim{Ledger: l, message: m, answer: a, end: end, lease: a.Claim.Lease}
	c.completion = Completion{store: l.store, claim: a.Claim, key: a.Job.Key, keep: l.options.Keep}
	if a.Kind == AnswerAcquired && end.IsZero() {
		c.startRenewal()
	}
	return c
}

// Lease implements [handler.Claim].
func (c *claim) Lease() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lease.Add(-deadline.ClockMargin)
}

func (c *claim) setLease(end time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lease = end
}

// setAsked notes the end that a renewal is about to ask for.
func (c *claim) setAsked(end time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = end
}

// Lost implements [handler.Claim].
func (c *claim) Lost() <-chan struct{} {
	if c.renewal == nil {
		return nil
	}
	return c.renewal.lost
}

// lose cancels the run's context, once.
func (c *claim) lose(ctx context.Context, err error) {
	c.mu.Lock()
	first := c.lost == nil
	if first {
		c.lost = &LostError{ID: c.answer.Claim.ID, Err: err}
	}
	lost, cancel := c.lost, c.cancel
	c.mu.Unlock()
	if !first {
		return
	}
	if cancel != nil {
		cancel(lost)
	}
	close(c.renewal.lost)
	c.warn(ctx, "claim lost while the job runs", lost)
}

func (c *claim) lostErr() *LostError {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// CountCrash implements [handler.Claim]. Once the claim is being settled it writes
// nothing: the settlement has the count.
func (c *claim) CountCrash(ctx context.Context, counted bool) error {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	done := make(chan struct{})
	defer close(done)
	c.mu.Lock()
	settling := c.settling
	c.counting = &counting{quit, done}
	c.mu.Unlock()
	if settling {
		return nil
	}
	crashes := c.answer.Job.Crashes
	if counted {
		crashes++
	}
	return c.store.Settle(ctx, c.answer.Claim, Settlement{Kind: SettleAlone, Crashes: crashes})
}

// endCounting ends a count under way and waits for it, so that none is written beside or
// after the write that settles the claim.
func (c *claim) endCounting() {
	c.mu.Lock()
	c.settling = true
	counting := c.counting
	c.mu.Unlock()
	if counting != nil {
		counting.quit()
		<-counting.done
	}
}

// Run implements [handler.Claim].
func (c *claim) Run(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	c.cancel = cancel
	lost := c.lost
	c.mu.Unlock()
	if lost != nil {
		cancel(lost)
	}
	key := c.answer.Job.Key
	c.steps.prepare(c.Ledger, key, c.answer.Steps)
	c.steps.recorder, c.steps.claim, c.steps.completion = c.store, c.answer.Claim, &c.completion
	if c.renewal == nil {
		c.steps.lease = c.answer.Claim.Lease
	}
	c.job = jobContext{
		Context: ctx, key: key, namespace: c.message.QueueName(), steps: &c.steps, completion: &c.completion,
	}
	return &c.job, func() {
		c.steps.close()
		cancel(nil)
	}
}

// Confirm implements [handler.Claim].
func (c *claim) Confirm(ctx context.Context, deadLetterID string) error {
	return c.store.Settle(ctx, c.answer.Claim, Settlement{Kind: SettleConfirm, DeadLetterID: deadLetterID})
}

// unsentLetter returns the result that sends the dead letter of an earlier delivery. The
// job is dead, and it is unknown whether the dead-letter queue has the letter.
func (c *claim) unsentLetter() *handler.Result {
	failure := handler.Failure{}
	if c.answer.Failure != nil {
		failure = *c.answer.Failure
	}
	failure.Key, failure.Epoch, failure.Verdict = c.answer.Job.Key, c.answer.Claim.Epoch, true
	return &handler.Result{
		Outcome:  handler.OutcomeDead,
		Decision: fault.Decision{Class: classNamed(failure.Class), Reason: failure.Reason, Rule: failure.Rule},
		Err:      errors.New(failure.Message),
		Failure:  &failure,
		Job:      c.answer.Job,
	}
}

func classNamed(name string) fault.Class {
	for class := range fault.ClassPermanent {
		if class.String() == name {
			return class
		}
	}
	return fault.ClassPermanent
}
