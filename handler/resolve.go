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

// resolve turns what user code returned into a Result. Nil is done, an error that
// holds a Result is that Result, and any other error is classified. The Result is
// the caller's own. The run is nil for an error from before the run.
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
	if reason, deferred := rs.cutShort(ctx, r, err); deferred {
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
		rs.budget(m, res, costs(d) && !(r != nil && r.probe && infrastructure[d.Reason]))
	}
	recordAttempt(ctx, m, r, res, d.Reason)
	return rs.drop(res)
}

// complete adds what a Result that did not come from an error of the job lacks: the
// delay of one that names a time, and the evidence of a dead one.
func (rs *resolver) complete(ctx context.Context, m *Message, job Job, res *Result) *Result {
	if res.Outcome == OutcomeDead && res.Failure == nil {
		res.Job = job
		recordAttempt(ctx, m, nil, res, res.Decision.Reason)
		res = rs.drop(res)
	}
	rs.setDelay(m, res)
	return res
}

// drop gives up a dead job whose reason the options name.
func (rs *resolver) drop(res *Result) *Result {
	if res.Outcome == OutcomeDead && slices.Contains(rs.options.Drop, res.Decision.Reason) {
		res.Outcome = OutcomeDropped
	}
	return res
}

// crashed is the result of a panic, nil for any other error.
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

// cutShort finds runs that were cut off for no fault of the job, which cost nothing.
// What a cancellation does to a call reads differently from client to client, so
// where the whole batch was cancelled any error counts that carries no tag.
func (rs *resolver) cutShort(ctx context.Context, r *run, err error) (reason string, deferred bool) {
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

// isDeliberate reports whether an error that is, or stands beside, the end of the run's
// own context was tagged. A tag around that end says nothing: who made it did not look
// at the error.
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

// isCancellation reports whether err comes from the end of the run's own context,
// whatever tag is around it. A panic does not.
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
		if m.Job.Key == "" {
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

// profile is the backoff for failures of one reason.
func (rs *resolver) profile(reason string) Backoff {
	if b := rs.options.BackoffByReason[reason]; b != nil {
		return b
	}
	return rs.options.Backoff
}

// spentBy is how much of its budget a job has used up before this run. Without a
// ledger the receive count is all that is known.
func (rs *resolver) spentBy(m *Message) int {
	if m.Job.Key == "" {
		return m.ReceiveCount() - 1
	}
	return m.Job.Attempts
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
	}
	return ""
}

// isLastAttempt implements [limits].
func (rs *resolver) isLastAttempt(m *Message) bool {
	return rs.lastReceive(m) || rs.spentBy(m)+1 >= rs.options.Backoff.Attempts()
}

// lastReceive reports whether SQS would move the message at its next receive.
func (rs *resolver) lastReceive(m *Message) bool {
	return rs.options.MaxReceives > 0 && m.ReceiveCount() >= rs.options.MaxReceives
}

// notRunError is the error of a job that is dead without having run to its end: at
// its last receive there was no time left, or the process was told to stop.
type notRunError struct {
	// reason is why it did not run, err what cut it off; nil if it did not start.
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

// Unwrap returns what cut the run off.
func (e *notRunError) Unwrap() error { return e.err }

// lastWord makes a deferred message dead at its last receive, since SQS would move it
// without a record. After a crash nothing new is decided, and what waits for the
// head of its group stays in order.
func (rs *resolver) lastWord(ctx context.Context, m *Message, r *run, res *Result) *Result {
	reason := res.Decision.Reason
	if res.Outcome != OutcomeDeferred || !rs.lastReceive(m) || reason == ReasonAfterCrash || reason == ReasonGroupHead {
		return res
	}
	dead := &Result{
		Outcome:  OutcomeDead,
		Decision: fault.Decision{Class: fault.ClassRetryable, Reason: ReasonMaxReceives},
		Err:      &notRunError{reason: reason, err: res.Err},
		Job:      m.Job,
	}
	recordAttempt(ctx, m, r, dead, reason)
	return rs.drop(dead)
}

// storeFailed comes back later at no cost: without the ledger nothing protects the
// job, and nothing that a run costs could be written down.
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

// demotePanic makes a panic a failure of the job alone.
func demotePanic(err error) error {
	if _, uncaught := uncaughtPanic(err); uncaught {
		return fault.Permanent(err, fault.Reason(ReasonPanic))
	}
	return err
}
