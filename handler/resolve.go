package handler

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
)

// resolver turns errors into results, for one processor.
type resolver struct {
	options Options
}

// Resolve turns what a Func returned into a Result. Nil is done, an error that
// holds a Result is that Result, and any other error is classified: its Result
// says retry with the delay, dead with the evidence, or unrun, and carries the
// job with this run counted. Middleware that stores outcomes calls it; calling
// it again on the Result gives an equal one. What it gives is the caller's own.
func (m *Message) Resolve(ctx context.Context, err error) *Result {
	if err == nil {
		return &Result{Outcome: OutcomeDone, Job: m.Job}
	}
	if r := AsResult(err); r != nil {
		return r.clone()
	}
	return m.decider().resolve(ctx, m, solid(err))
}

// Random gives a number in [0, 1) from the source that [Options] name, for
// middleware that spreads delays.
func (m *Message) Random() float64 { return m.decider().options.Random() }

// decider gives the processor's resolver, or one with the defaults for a
// message outside of a batch.
func (m *Message) decider() *resolver {
	if m.resolver == nil {
		return &resolver{options: (*Options)(nil).withDefaults()}
	}
	return m.resolver
}

func (rs *resolver) resolve(ctx context.Context, m *Message, err error) *Result {
	if r := crashed(m, err); r != nil {
		return r
	}
	if r := cancelled(ctx, m, err); r != nil {
		return r
	}
	d := rs.options.Classifier.Classify(ctx, err)
	r := &Result{Outcome: OutcomeRetry, Decision: d, Err: err, Job: m.Job}
	if d.Reason == fault.ReasonProgrammerFault && d.Class == fault.ClassUnclassified {
		r.Outcome = OutcomeCrash
		return r
	}
	if d.Class == fault.ClassPermanent {
		r.Outcome = OutcomeDead
	} else {
		rs.budget(m, r)
	}
	account(ctx, m, r, d.Reason)
	return rs.drop(r)
}

// drop gives up a dead job whose reason the options name.
func (rs *resolver) drop(r *Result) *Result {
	if r.Outcome == OutcomeDead && slices.Contains(rs.options.Drop, r.Decision.Reason) {
		r.Outcome = OutcomeDropped
	}
	return r
}

func crashed(m *Message, err error) *Result {
	r := &Result{Outcome: OutcomeCrash, Err: err, Job: m.Job}
	if errors.Is(err, ErrAbandoned) {
		r.Decision = fault.Decision{Reason: ReasonAbandoned}
		return r
	}
	if _, loose := looseIn(err); loose {
		r.Decision = fault.Decision{Reason: ReasonPanic}
		return r
	}
	return nil
}

// cancelled finds runs that were cut off for no fault of the job.
func cancelled(ctx context.Context, m *Message, err error) *Result {
	if fault.Tagged(err) {
		return nil
	}
	switch ctx.Err() {
	case context.Canceled:
		if reason := m.calledOff(err); reason != "" {
			return m.NotRun(ctx, reason, err)
		}
	case context.DeadlineExceeded:
		inv, ok := ctx.Value(invocationKey{}).(*invocation)
		if ok && inv.over() && !m.started.IsZero() && inv.cutShort(m.started) {
			return m.NotRun(ctx, ReasonNoTime, err)
		}
	}
	return nil
}

// calledOff is why a message whose context was cancelled failed for no fault of
// its own; empty if it did. What a cancellation does to a call reads differently
// from client to client, so where the whole batch was cancelled any error counts.
func (m *Message) calledOff(err error) string {
	switch {
	case m.seat != nil && m.seat.batch.jobs.Err() == context.Canceled:
		return cmp.Or(m.seat.batch.afterCrash(), ReasonCancelled)
	case errors.Is(err, context.Canceled):
		return ReasonCancelled
	default:
		return ""
	}
}

// budget counts a failure that may be retried and decides between retry and death.
func (rs *resolver) budget(m *Message, r *Result) {
	step := m.ReceiveCount()
	if costs(r.Decision) {
		r.Job.Attempts = rs.spentBy(m) + 1
		if m.Job.Key == "" {
			r.Job.Unclassified = r.Job.Attempts - 1
		}
		if r.Decision.Class == fault.ClassUnclassified {
			r.Job.Unclassified++
		}
		step = r.Job.Attempts
	}
	profile := rs.profile(r.Decision.Reason)
	if reason := rs.spent(m, r, profile.Attempts()); reason != "" {
		r.Outcome, r.Decision.Reason = OutcomeDead, reason
		return
	}
	delay := profile.Delay(step, rs.options.Random)
	if named := r.Decision.RetryAfter; named > delay {
		delay = backoff.Spread(named, backoff.DefaultJitter, rs.options.Random)
	}
	r.Delay = rs.round(backoff.Clamp(delay, m.age()))
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

// costs tells whether a failure uses up budget. What is wrong with the
// surroundings is not the job's fault, and a wrong role must not flood the
// dead-letter queue.
func costs(d fault.Decision) bool {
	return d.Reason != fault.ReasonEnvironment && d.Reason != fault.ReasonStore
}

func (rs *resolver) spent(m *Message, r *Result, attempts int) string {
	unclassified := r.Decision.Class == fault.ClassUnclassified
	switch {
	case costs(r.Decision) && unclassified && r.Job.Unclassified >= rs.options.UnclassifiedAttempts:
		return fault.ReasonUnclassified
	case costs(r.Decision) && r.Job.Attempts >= attempts:
		return ReasonExhausted
	case r.Decision.Reason != fault.ReasonStore && rs.lastReceive(m):
		return ReasonMaxReceives
	}
	return ""
}

// round never gives less than a second: nothing is retried at once.
func (rs *resolver) round(d time.Duration) time.Duration {
	return max(backoff.WholeSeconds(d, rs.options.Random), time.Second)
}
