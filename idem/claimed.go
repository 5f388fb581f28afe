package idem

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// crashLimit is the number of crashes in a row after which a job is not run again.
const crashLimit = 2

// claimed is one delivery that has the claim on its job.
type claimed struct {
	*guard
	message *handler.Message
	answer  Answer
	// lost is why the claim was lost while the job ran; nil if it was not.
	lost *LostError
}

// run runs the job and settles its claim by the outcome.
func (c *claimed) run(ctx context.Context, next handler.Func) error {
	if c.answer.Job.Crashes >= crashLimit {
		return c.bury(ctx, c.message.Resolve(ctx, c.crashLoop()), c.answer.Job.Crashes)
	}
	if reason := hindrance(ctx, c.answer.Claim.Lease); reason != "" {
		return c.abort(ctx, c.message.Unrun(reason, nil))
	}
	job, cancel := context.WithCancelCause(ctx)
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
	return next(withKey(ctx, c.message.Job.Key), c.message)
}

// crashLoop is the error of a job that ends its process at every run, with the
// place of its last panic if that was marked.
func (c *claimed) crashLoop() error {
	err := fmt.Errorf("the job ended its process %d times in a row", c.answer.Job.Crashes)
	if c.answer.CrashStack != "" {
		err = &handler.PanicError{Value: err, Stack: c.answer.CrashStack}
	}
	return fault.Permanent(err, fault.Reason(ReasonCrashLoop))
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
