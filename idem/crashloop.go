package idem

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// crashLimit is the number of crashes in a row after which a job does not run again.
const crashLimit = 2

// refusal returns why the job may not run again after its earlier runs; nil if it may.
func (c *claim) refusal() error {
	switch {
	case c.answer.Job.Crashes >= crashLimit:
		return c.crashLoop()
	case c.options.DeadLetterUnknown && c.answer.Claims > c.answer.Settled:
		return c.unknownOutcome()
	}
	return nil
}

// unknownOutcome returns the error of a job with earlier claims that were not settled,
// and what is known of its possible runs.
func (c *claim) unknownOutcome() error {
	runs := c.answer.Claims - c.answer.Settled
	err := fmt.Errorf("%d of %d claims ended without a result, so the job may have taken effect; "+
		"marked crashes: %d; steps done: %s; replay the job if it is to run",
		runs, c.answer.Claims, c.answer.Job.Crashes, stepNames(c.answer.Steps))
	return fault.Permanent(c.withCrashStack(err), fault.WithReason(ReasonUnknownOutcome))
}

func stepNames(steps map[string]string) string {
	if len(steps) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(steps)), ", ")
}

// crashLoop returns the error of a job that crashes its process at every run, with the
// stack of its last panic if there was one. Crashes without a panic before the job became
// a suspect are claims without a result.
func (c *claim) crashLoop() error {
	err := fmt.Errorf("%d crashes are counted, and %d of the job's %d claims ended without a result",
		c.answer.Job.Crashes, c.answer.Claims-c.answer.Settled, c.answer.Claims)
	return fault.Permanent(c.withCrashStack(err), fault.WithReason(ReasonCrashLoop))
}

// withCrashStack adds the stack of the last panic, if there was one.
func (c *claim) withCrashStack(err error) error {
	if c.answer.CrashStack == "" {
		return err
	}
	return &stackError{err, &handler.PanicError{Value: err, Stack: c.answer.CrashStack}}
}

// stackError is an error with the stack of an earlier panic.
type stackError struct {
	error
	panicked *handler.PanicError
}

// Unwrap returns the panic.
func (p *stackError) Unwrap() error { return p.panicked }
