package idem

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// claimed is one delivery that has the claim on its job.
type claimed struct {
	*guard
	message *handler.Message
	answer  Answer
	// lost is why the claim was lost while the job ran; nil if it was not.
	lost *LostError
	// completion is what the job's own transaction may complete it with.
	completion *Completion
}

// run runs the job and settles its claim by the outcome.
func (c *claimed) run(ctx context.Context, next handler.Func) error {
	c.completion = newCompletion(c)
	if err := c.unfit(); err != nil {
		return c.bury(ctx, c.message.Resolve(ctx, err), c.answer.Job.Crashes)
	}
	if reason := hindrance(ctx, c.answer.Claim.Lease); reason != "" {
		return c.unrun(ctx, reason)
	}
	if c.suspect() {
		if err := c.alone(ctx); err != nil {
			return err
		}
	}
	job, cancel := context.WithCancelCause(withCompletion(ctx, c.completion))
	defer cancel(nil)
	err := c.call(job, next, c.renew(ctx, cancel))
	return c.settle(ctx, c.message.Resolve(job, err))
}

// call runs the job and ends the renewing of its claim. A panic is marked on the
// claim and goes on its way.
func (c *claimed) call(ctx context.Context, next handler.Func, stop func()) error {
	defer func() {
		stop()
		if value := recover(); value != nil {
			c.markCrash(ctx, &handler.PanicError{Value: value, Stack: string(debug.Stack())})
			panic(value)
		}
	}()
	steps := c.steps(ctx)
	defer steps.close()
	return next(withSteps(withKey(ctx, c.message.Job.Key), steps), c.message)
}

// steps are those of the run that begins now.
func (c *claimed) steps(ctx context.Context) *steps {
	s := newSteps(c.guard, c.message.Job.Key, c.answer.Steps)
	// The claim as it was: by now it may be in renewal.
	s.recorder, s.claim, s.completion = c.stepper, c.completion.Claim(), c.completion
	if !c.renews(ctx) {
		s.lease = s.claim.Lease
	}
	return s
}

// renews tells whether the claim is renewed while the job runs.
func (c *claimed) renews(ctx context.Context) bool {
	_, bounded := handler.InvocationDeadline(ctx)
	return !bounded && c.renewer != nil
}

// send lets the dead letter of an earlier delivery go out: the job is dead, and
// nobody knows whether the queue has it.
func (c *claimed) send() error {
	var failure handler.Failure
	if c.answer.Failure != nil {
		failure = *c.answer.Failure
	}
	failure.Key, failure.Epoch, failure.Verdict = c.message.Job.Key, c.answer.Claim.Epoch, true
	return &handler.Result{
		Outcome:   handler.OutcomeDead,
		Decision:  fault.Decision{Class: classNamed(failure.Class), Reason: failure.Reason, Rule: failure.Rule},
		Err:       errors.New(failure.Message),
		Failure:   &failure,
		Job:       c.message.Job,
		Lease:     c.answer.Claim.Lease,
		AfterSend: c.confirm,
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
