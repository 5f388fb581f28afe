package handler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
)

// resolve converts the error of user code into a Result. Nil is done. An error that wraps
// a Result is that Result. Any other error is classified. The caller owns the returned
// Result. r is nil for an error from before the run.
func (rs *resolver) resolve(ctx context.Context, m *Message, r *run, err error) *Result {
	if err == nil {
		return &Result{Outcome: OutcomeDone, Job: m.Job}
	}
	if res := AsResult(err); res != nil {
		return res.clone()
	}
	err = rejectTypedNil(err)
	if res := crashed(m, err); res != nil {
		return res
	}
	if reason, deferred := rs.deferReason(ctx, r, err); deferred {
		return rs.deferred(m, reason, err)
	}
	d := rs.options.Classifier.Classify(ctx, err)
	if d.Class == fault.ClassPermanent && isCancellation(ctx, err) && !isDeliberate(ctx, err) {
		d = fault.Decision{Class: fault.ClassRetryable, Reason: fault.ReasonTimeout, Rule: "cancelled by the processor"}
	}
	res := &Result{Outcome: OutcomeRetry, Decision: d, Err: err, Job: m.Job}
	if d.Reason == fault.ReasonProgrammerFault && d.Class == fault.ClassUnclassified {
		res.Outcome = OutcomeCrash
		return res
	}
	if d.Class == fault.ClassPermanent {
		res.Outcome = OutcomeDead
	} else {
		rs.budget(m, res, rs.pays(m, d, r))
		if res.Outcome == OutcomeDead && cutLate(ctx, r, err) {
			return rs.deferred(m, ReasonNoTime, err)
		}
	}
	recordAttempt(ctx, m, r, res, d.Reason)
	return rs.drop(res)
}

// complete adds what is missing in a Result that did not come from an error of the job:
// the delay if it names a time, and the failure record if the job is dead.
func (rs *resolver) complete(ctx context.Context, m *Message, job Job, res *Result) *Result {
	if res.Outcome == OutcomeDead && res.Failure == nil {
		res.Job = job
		recordAttempt(ctx, m, nil, res, res.Decision.Reason)
		res = rs.drop(res)
	}
	rs.setDelay(m, res)
	return res
}

// drop changes the outcome of a dead job to dropped if Options.Drop names its reason.
func (rs *resolver) drop(res *Result) *Result {
	if res.Outcome == OutcomeDead && slices.Contains(rs.options.Drop, res.Decision.Reason) {
		res.Outcome = OutcomeDropped
	}
	return res
}

// crashed returns the result of a panic or an abandoned handler; nil for any other error.
func crashed(m *Message, err error) *Result {
	res := &Result{Outcome: OutcomeCrash, Err: err, Job: m.Job}
	if errors.Is(err, ErrAbandoned) {
		res.Decision = fault.Decision{Reason: ReasonAbandoned}
		return res
	}
	if _, uncaught := uncaughtPanic(err); uncaught {
		res.Decision = fault.Decision{Reason: ReasonPanic}
		return res
	}
	return nil
}

// deferReason returns the reason to defer a run that was cancelled before it had enough
// time. The run costs no budget then. Clients return different errors after a
// cancellation. So if the whole batch was cancelled, every error without a tag counts.
func (rs *resolver) deferReason(ctx context.Context, r *run, err error) (reason string, deferred bool) {
	if ctx.Err() == nil || isDeliberate(ctx, err) {
		return "", false
	}
	if ctx.Err() == context.Canceled {
		switch {
		case r != nil && r.jobs.Err() == context.Canceled:
			return cmp.Or(r.process.reason(), ReasonCancelled), true
		case errors.Is(err, context.Canceled):
			return ReasonCancelled, true
		}
		return "", false
	}
	if r == nil || r.jobs.Err() == nil || !r.started() {
		return "", false
	}
	return ReasonNoTime, !r.table.HadItsTime(time.Since(r.startTime()))
}

// cutLate reports whether a run was cut off that had less than most of the time. Such a run
// may cost an attempt, but not the last one: a job that only takes long would be dead
// because it was started late each time.
func cutLate(ctx context.Context, r *run, err error) bool {
	return r != nil && r.started() && ctx.Err() != nil && r.jobs.Err() != nil && !isDeliberate(ctx, err) &&
		!r.table.HadMostOfItsTime(time.Since(r.startTime()))
}

// isDeliberate reports whether user code tagged an error that does not come from the end
// of the run's context. A tag around a cancellation is ignored: user code tagged the
// error without looking at it.
func isDeliberate(ctx context.Context, err error) bool {
	if err == nil {
		return false
	}
	if tagged(err) {
		return !isCancellation(ctx, err)
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return isDeliberate(ctx, e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), func(below error) bool { return isDeliberate(ctx, below) })
	}
	return false
}

// isCancellation reports whether err comes from the end of the run's own context, even if
// a tag is around it. A panic does not.
func isCancellation(ctx context.Context, err error) bool {
	if _, panicked := asPanic(err); panicked || ctx.Err() == nil {
		return false
	}
	for _, end := range []error{
		context.Canceled, context.DeadlineExceeded, os.ErrDeadlineExceeded, net.ErrClosed, ctx.Err(), context.Cause(ctx),
	} {
		if errors.Is(err, end) {
			return true
		}
	}
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && timeout.Timeout()
}

// budget counts a failure that may be retried, if it pays for it, and decides between
// retry and death.
func (rs *resolver) budget(m *Message, res *Result, pays bool) {
	step := m.ReceiveCount()
	if pays {
		res.Job.Attempts = rs.spentBy(m) + 1
		if rs.options.Ledger == nil {
			res.Job.Unclassified = res.Job.Attempts - 1
		}
		if res.Decision.Class == fault.ClassUnclassified {
			res.Job.Unclassified++
		}
		step = res.Job.Attempts
	}
	profile := rs.profile(res.Decision.Reason)
	if reason := rs.spent(m, res, profile.Attempts(), pays); reason != "" {
		res.Outcome, res.Decision.Reason = OutcomeDead, reason
		return
	}
	delay := profile.Delay(step, rs.options.Random)
	if named := res.Decision.RetryAfter; named > delay {
		delay = backoff.Spread(named, backoff.DefaultJitter, rs.options.Random)
	}
	res.Delay = rs.round(backoff.Clamp(delay, m.age()))
}

// profile returns the backoff for failures with this reason.
func (rs *resolver) profile(reason string) Backoff {
	if b := rs.options.BackoffByReason[reason]; b != nil {
		return b
	}
	return rs.options.Backoff
}

// spentBy returns how many attempts the job has used before this run. Without a ledger
// only the receive count is known, and deferrals count too.
func (rs *resolver) spentBy(m *Message) int {
	if rs.options.Ledger == nil {
		return m.ReceiveCount() - 1
	}
	return m.Job.Attempts
}

// unclaimed reports whether the message has failed before its job was claimed: in decoding
// or in the key function. How many attempts the job has used is in the ledger, and is not
// known then.
func (rs *resolver) unclaimed(m *Message) bool { return rs.options.Ledger != nil && !m.claimed }

// pays reports whether a failure uses up budget.
func (rs *resolver) pays(m *Message, d fault.Decision, r *run) bool {
	probes := r != nil && r.probe && infrastructure[d.Reason]
	return costs(d) && !probes && !rs.unclaimed(m)
}

// infrastructure has the reasons of failures of what jobs depend on.
var infrastructure = map[string]bool{
	fault.ReasonConnection: true, fault.ReasonTimeout: true, fault.ReasonUnavailable: true,
	fault.ReasonRateLimited: true, fault.ReasonEnvironment: true, fault.ReasonStore: true, fault.ReasonReadOnly: true,
}

// costs reports whether a failure uses up budget. What is wrong with what the job
// depends on is not the job's fault, and a wrong role must not flood the dead-letter
// queue.
func costs(d fault.Decision) bool {
	return d.Reason != fault.ReasonEnvironment && d.Reason != fault.ReasonStore
}

func (rs *resolver) spent(m *Message, res *Result, attempts int, pays bool) string {
	unclassified := res.Decision.Class == fault.ClassUnclassified
	switch {
	case pays && unclassified && res.Job.Unclassified >= rs.options.UnclassifiedAttempts:
		return fault.ReasonUnclassified
	case pays && res.Job.Attempts >= attempts:
		return ReasonExhausted
	case res.Decision.Reason != fault.ReasonStore && rs.lastReceive(m):
		return ReasonMaxReceives
	case costs(res.Decision) && rs.unclaimed(m) && m.ReceiveCount() >= rs.maxReceives():
		return ReasonMaxReceives // no attempts are counted, and the queue may have no limit
	}
	return ""
}

// isLastAttempt implements [limits].
func (rs *resolver) isLastAttempt(m *Message) bool {
	return rs.lastReceive(m) || !rs.unclaimed(m) && rs.spentBy(m)+1 >= rs.options.Backoff.Attempts()
}

// lastReceive reports whether SQS would move the message at its next receive.
func (rs *resolver) lastReceive(m *Message) bool {
	return rs.options.MaxReceives > 0 && m.ReceiveCount() >= rs.options.MaxReceives
}

// notRunError is the error of a job that died at its last receive without a complete run:
// there was no time left, or the process was stopping.
type notRunError struct {
	// reason is why the job did not run. err is the error of a cancelled run; nil if it
	// did not start.
	reason string
	err    error
}

// Error says why, and that this was the last receive.
func (e *notRunError) Error() string {
	if e.err != nil {
		return fmt.Sprintf("cut off at its last receive (%s): %v", e.reason, e.err)
	}
	return fmt.Sprintf("not run at its last receive (%s)", e.reason)
}

// Unwrap returns the error of the cancelled run.
func (e *notRunError) Unwrap() error { return e.err }

// lastWord changes a message that would come back to dead at its last receive, since SQS
// would move it without a failure record: a deferred one, or a retry that user code has
// decided itself. It changes nothing after a crash, nor while the ledger is down, nor for
// a message that waits for its group's head, which keeps the order.
func (rs *resolver) lastWord(ctx context.Context, m *Message, r *run, res *Result) *Result {
	if res.Outcome == OutcomeDone || !rs.lastReceive(m) {
		return res
	}
	reason := res.Decision.Reason
	if reason == ReasonAfterCrash || reason == ReasonGroupHead {
		return res
	}
	var err error
	switch {
	case res.Outcome == OutcomeDeferred:
		err = &notRunError{reason: reason, err: res.Err}
	case res.Outcome == OutcomeRetry && reason != fault.ReasonStore:
		err = cmp.Or(res.Err, error(res))
	default:
		return res
	}
	dead := rs.diedAtLastReceive(m, err)
	recordAttempt(ctx, m, r, dead, reason)
	return rs.drop(dead)
}

// leftBehind changes an abandoned message to dead at its last receive, since SQS would move
// it without a failure record. The ledger gets no verdict: its claim goes on until the
// process has ended, so that nothing runs beside the goroutine that is left behind.
func (rs *resolver) leftBehind(ctx context.Context, m *Message, r *run, res *Result) *Result {
	if res.Outcome != OutcomeCrash && res.Outcome != OutcomeDeferred {
		return res
	}
	dead := rs.diedAtLastReceive(m, fmt.Errorf("left behind at its last receive (%s), so it may still take effect: %w",
		res.Decision.Reason, res.Err))
	recordAttempt(ctx, m, r, dead, res.Decision.Reason)
	return rs.drop(dead)
}

func (rs *resolver) diedAtLastReceive(m *Message, err error) *Result {
	return &Result{
		Outcome:  OutcomeDead,
		Decision: fault.Decision{Class: fault.ClassRetryable, Reason: ReasonMaxReceives},
		Err:      err,
		Job:      m.Job,
	}
}

// storeFailed returns a retry that uses no budget: without the ledger the job is not
// protected, and attempts cannot be recorded.
func (rs *resolver) storeFailed(m *Message, err error) *Result {
	r := &Result{
		Outcome:  OutcomeRetry,
		Decision: fault.Decision{Class: fault.ClassRetryable, Reason: fault.ReasonStore},
		Err:      err,
		Job:      m.Job,
	}
	rs.setDelay(m, r)
	return r
}

// demotePanic changes a panic to a permanent failure of the job alone.
func demotePanic(err error) error {
	if _, uncaught := uncaughtPanic(err); uncaught {
		return fault.Permanent(err, fault.WithReason(ReasonPanic))
	}
	return err
}
